import type { Denial } from '../contracts.ts'

/** No place was free. Nobody knows when one comes back; a second is what a client may be asked to wait. */
export const FULL: Denial = { allowed: false, retryAfterMs: 1_000 }

/** The work weighs more than the limit: no wait helps. */
export const TOO_HEAVY: Denial = { allowed: false, retryAfterMs: Number.POSITIVE_INFINITY }
