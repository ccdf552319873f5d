import type { Denial, Permit } from '../contracts.ts'

/** Denial if no place is free. The time of the next release is not known, so clients should retry after one second. */
export const FULL: Denial = { allowed: false, retryAfterMs: 1_000 }

/** Denial if the weight exceeds the limit, so that a retry can never succeed. */
export const WEIGHT_EXCEEDS_LIMIT: Denial = { allowed: false, retryAfterMs: Number.POSITIVE_INFINITY }

/** Permit of work that a cap lets pass without counting it. */
export const UNCOUNTED_PERMIT: Permit = {
  // one for each reader: a shared signal, which is never aborted, would keep all their listeners
  get lost() {
    return new AbortController().signal
  },
  release() {},
  [Symbol.dispose]() {},
}
