import type { Explanation } from '../../explain/explanation.ts'
import type { KeyName } from './address.ts'
import { now } from './browser-clock.ts'

/** What is known about a requested key. */
export type KeyAnswer =
  | { readonly state: 'asking' }
  | { readonly state: 'answered'; readonly explanation: Explanation }
  | { readonly state: 'refused'; readonly why: string }

const ASKED_EVERY_MS = 2_000
const ASKING: KeyAnswer = { state: 'asking' }

/** Requests one key from the server, and again every two seconds while it is displayed. */
export class KeyQuestion {
  readonly #changed: () => void
  #query = ''
  #askedAt = 0
  #answer: KeyAnswer = ASKING

  constructor(changed: () => void) {
    this.#changed = changed
  }

  of(key: KeyName, cost: number): KeyAnswer {
    const query = new URLSearchParams({ ...key, cost: String(cost) }).toString()
    const isNew = query !== this.#query
    if (isNew) this.#answer = ASKING
    if (isNew || now() - this.#askedAt > ASKED_EVERY_MS) void this.#ask(query)
    return this.#answer
  }

  async #ask(query: string): Promise<void> {
    this.#query = query
    this.#askedAt = now()
    const answer = await answerTo(query)
    // another key may have been requested in the meantime
    if (query !== this.#query) return
    this.#answer = answer
    this.#changed()
  }
}

async function answerTo(query: string): Promise<KeyAnswer> {
  try {
    const response = await fetch(`explain?${query}`)
    const body: unknown = await response.json()
    if (response.ok) return { state: 'answered', explanation: body as Explanation }
    return { state: 'refused', why: (body as { readonly detail: string }).detail }
  } catch {
    return { state: 'refused', why: 'The server does not answer.' }
  }
}
