import { keyAddress } from './dom/address.ts'
import { now } from './dom/browser-clock.ts'
import type { Changes } from './views/changes-view.ts'

const REFRESH_MS = 2_000

/** Handles operator changes: loads them from the server and submits the forms of the page. */
export class Operator {
  readonly #changed: () => void
  readonly #outcome: HTMLElement
  #changes: Changes = { controls: [], audit: [] }
  #requestedAt = 0

  /** `outcome`: the element for the result of a change. */
  constructor(outcome: HTMLElement, changed: () => void) {
    this.#outcome = outcome
    this.#changed = changed
  }

  /** Whether changes are allowed. Without a token the page has neither a logout form nor changes. */
  get canAct(): boolean {
    return document.querySelector('footer form.hidden') === null
  }

  /** Active changes and the audit log, at most two seconds old while they are displayed. */
  get changes(): Changes {
    if (now() - this.#requestedAt > REFRESH_MS) void this.#request()
    return this.#changes
  }

  submitted(event: SubmitEvent): void {
    const { target, submitter } = event
    if (!(target instanceof HTMLFormElement)) return
    event.preventDefault()
    const fields = fieldsOf(target)
    const change = submitter instanceof HTMLElement ? submitter.dataset.change : undefined
    if (target.dataset.form === 'ask') location.hash = keyAddress({ key: fields.key ?? '' }, Number(fields.cost ?? 1))
    else if (target.dataset.form === 'undo') void this.#send('undo', { id: fields.id })
    else if (change !== undefined) void this.#send('control', bodyOf(fields, JSON.parse(change)))
  }

  /** Clears a result that belongs to another view. */
  forgetOutcome(): void {
    this.#outcome.textContent = ''
  }

  async #request(): Promise<void> {
    this.#requestedAt = now()
    const answer = await fetch('control').then(
      (response) => (response.ok ? response.json() : undefined),
      () => undefined,
    )
    if (answer === undefined) return
    this.#changes = answer as Changes
    this.#changed()
  }

  async #send(file: string, body: object): Promise<void> {
    this.#outcome.textContent = await outcomeOf(file, body)
    this.#requestedAt = 0
    this.#changed()
  }
}

async function outcomeOf(file: string, body: object): Promise<string> {
  try {
    // forms of other sites cannot send this header
    const headers = { 'content-type': 'application/json', 'sluice-control': '1' }
    const response = await fetch(file, { method: 'POST', headers, body: JSON.stringify(body) })
    if (response.ok) return file === 'undo' ? 'Change undone.' : appliedText(body)
    return ((await response.json()) as { readonly detail: string }).detail
  } catch {
    return 'The server did not respond. The change may not have been applied.'
  }
}

function appliedText({ action }: { readonly action?: string }): string {
  if (action === 'reset') return 'Usage reset.'
  if (action === 'unban') return 'Ban lifted. Strikes and earlier bans are forgotten.'
  return 'Change applied. It expires automatically and can be undone on the Changes page.'
}

function fieldsOf(form: HTMLFormElement): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [name, value] of new FormData(form)) if (typeof value === 'string' && value !== '') fields[name] = value
  return fields
}

/** Includes only the fields that the change needs: a reset has no duration, and a mode no limit. */
function bodyOf({ limit, duration, ...fields }: Record<string, string>, change: { readonly action: string }): object {
  const ends = change.action === 'reset' || change.action === 'unban' ? {} : { duration }
  return { ...fields, ...ends, ...(change.action === 'limit' && { limit: Number(limit) }), ...change }
}
