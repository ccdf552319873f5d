import { RecentKeys } from '../ban/recent-keys.ts'

/** Limit and window of a key; undefined if it has those of the policy. */
interface Terms {
  readonly limit: number | undefined
  readonly windowMs: number | undefined
}

const MOST_KEYS = 10_000

/**
 * The limits and windows of keys under a policy whose limit or window depends on the request, as of the last request of
 * each key in this process: calls without a request read and change a count by them.
 */
export class KeyTerms {
  readonly #recent = new RecentKeys<Terms>(MOST_KEYS)
  /** For keys without a known request: units of the smallest limit drain the slowest. */
  #smallest: Terms | undefined
  #previous: KeyTerms | undefined

  set(key: string, limit: number | undefined, windowMs: number | undefined): void {
    const known = this.#recent.get(key)
    if (known && known.limit === limit && known.windowMs === windowMs) return
    const terms = { limit, windowMs }
    this.#recent.set(key, terms)
    if ((limit ?? 0) <= (this.#smallest?.limit ?? limit ?? 0)) this.#smallest = terms
  }

  /** Whether the last request of a key is known. */
  knows(key: string): boolean {
    return this.#recent.get(key) !== undefined || this.#previous?.knows(key) === true
  }

  /** Returns undefined before the first request of this process. */
  of(key: string): Terms | undefined {
    const known = this.#recent.get(key)
    return known ?? (this.#previous?.knows(key) ? this.#previous.of(key) : (this.#smallest ?? this.#previous?.of(key)))
  }

  /** Uses the terms under the policy that this one replaces for keys without a request since then. */
  follow(previous: KeyTerms): void {
    this.#previous = previous
    previous.#previous = undefined
  }
}
