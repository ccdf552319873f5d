import { keyAddress } from './address.ts'
import { now } from './browser-clock.ts'
import type { Changes } from './changes-view.ts'

const ASKED_EVERY_MS = 2_000

/** Changes by operators, and the forms to make them. */
export class Operator {
  readonly #changed: () => void
  readonly #outcome: HTMLElement
  #changes: Changes = { controls: [], audit: [] }
  #askedAt = 0

  /** `outcome`: the element for the result of a change. */
  constructor(outcome: HTMLElement, changed: () => void) {
    this.#outcome = outcome
    this.#changed = changed
  }

  /** Without a token there is no log-out and nothing can be changed. */
  get canAct(): boolean {
    return document.querySelector('footer form.hidden') === null
  }

  /** At most two seconds old while they are displayed. */
  get changes(): Changes {
    if (now() - this.#askedAt > ASKED_EVERY_MS) void this.#ask()
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

  async #ask(): Promise<void> {
    this.#askedAt = now()
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
    this.#askedAt = 0
    this.#changed()
  }
}

async function outcomeOf(file: string, body: object): Promise<string> {
  try {
    // no form can send this header
    const headers = { 'content-type': 'application/json', 'sluice-control': '1' }
    const response = await fetch(file, { method: 'POST', headers, body: JSON.stringify(body) })
    if (response.ok) return file === 'undo' ? 'Undone.' : 'Done. It ends by itself, and can be undone under Changes.'
    return ((await response.json()) as { readonly detail: string }).detail
  } catch {
    return 'The server does not answer: nothing was changed, as far as is known.'
  }
}

function fieldsOf(form: HTMLFormElement): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [name, value] of new FormData(form)) if (typeof value === 'string' && value !== '') fields[name] = value
  return fields
}

/** Includes only the fields that the change needs: a reset has no duration, and a mode no limit. */
function bodyOf({ limit, duration, ...fields }: Record<string, string>, change: { readonly action: string }): object {
  const ends = change.action === 'reset' ? {} : { duration }
  return { ...fields, ...ends, ...(change.action === 'limit' && { limit: Number(limit) }), ...change }
}
