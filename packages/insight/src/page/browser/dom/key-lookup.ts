import type { Explanation } from '../../../explain/explanation.ts'
import type { KeyName } from './address.ts'
import { now } from './browser-clock.ts'

/** State of the explanation of a requested key. */
export type KeyAnswer =
  | { readonly state: 'loading' }
  | { readonly state: 'answered'; readonly explanation: Explanation }
  | { readonly state: 'refused'; readonly why: string }

const REFRESH_MS = 2_000
const LOADING: KeyAnswer = { state: 'loading' }

/** Requests the explanation of a key, and again every two seconds while it is displayed. */
export class KeyLookup {
  readonly #changed: () => void
  #query = ''
  #requestedAt = 0
  #answer: KeyAnswer = LOADING

  constructor(changed: () => void) {
    this.#changed = changed
  }

  of(key: KeyName, cost: number): KeyAnswer {
    const query = new URLSearchParams({ ...key, cost: String(cost) }).toString()
    const isNew = query !== this.#query
    if (isNew) this.#answer = LOADING
    if (isNew || now() - this.#requestedAt > REFRESH_MS) void this.#request(query)
    return this.#answer
  }

  async #request(query: string): Promise<void> {
    this.#query = query
    this.#requestedAt = now()
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
    return { state: 'refused', why: 'The server did not respond.' }
  }
}
