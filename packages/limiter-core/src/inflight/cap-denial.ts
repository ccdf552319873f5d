import type { Denial } from '../contracts.ts'

/** Denial if no place is free. The time of the next release is not known, so clients should retry after one second. */
export const FULL: Denial = { allowed: false, retryAfterMs: 1_000 }

/** Denial if the weight exceeds the limit, so that a retry can never succeed. */
export const WEIGHT_EXCEEDS_LIMIT: Denial = { allowed: false, retryAfterMs: Number.POSITIVE_INFINITY }
