import { randomBytes } from 'node:crypto'
import type { IdempotencyKey } from '../contracts.ts'

/**
 * For so long a command that must not be run twice may arrive, and a backend remembers that it ran: longer than a client of
 * Redis tries to send again what a broken connection left unanswered (20 times, some 11 s with ioredis as it is).
 */
export const IDEMPOTENT_MS = 30_000

/** Keeps the keys of this copy of the package apart from those of all others. */
const owner = randomBytes(9).toString('base64url')
let made = 0

/** A key that no other command has; `now` is a reading of the process clock. */
export function newIdempotencyKey(now: number): IdempotencyKey {
  return { id: `${owner}${(made++).toString(36)}`, issuedAt: now }
}
