import type { Denial } from '../contracts.ts'

/** Nobody knows when a place comes back; a second is what a client may be asked to wait. */
export const RETRY_AFTER_MS = 1_000

/** No place was free. */
export const FULL: Denial = { allowed: false, retryAfterMs: RETRY_AFTER_MS }

/** The work weighs more than the limit: no wait helps. */
export const TOO_HEAVY: Denial = { allowed: false, retryAfterMs: Number.POSITIVE_INFINITY }
