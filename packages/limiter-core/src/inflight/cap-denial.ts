import type { Denial } from '../contracts.ts'

/** Denial for a full cap. The next release is unknown, so the client is asked to wait one second. */
export const FULL: Denial = { allowed: false, retryAfterMs: 1_000 }

/** The work weighs more than the limit: no wait helps. */
export const TOO_HEAVY: Denial = { allowed: false, retryAfterMs: Number.POSITIVE_INFINITY }
