import { randomBytes } from 'node:crypto'
import type { IdempotencyKey } from '../contracts.ts'

/**
 * How long a backend remembers a command that must not run twice. It is longer than a Redis client keeps resending
 * commands after a broken connection (20 attempts, about 11 s, with the defaults of ioredis).
 */
export const IDEMPOTENT_MS = 30_000

/** Distinguishes the keys of this copy of the package from those of other copies. */
const owner = randomBytes(9).toString('base64url')
let made = 0

/** A key that no other command has; `now` is a reading of the process clock. */
export function newIdempotencyKey(now: number): IdempotencyKey {
  return { id: `${owner}${(made++).toString(36)}`, issuedAt: now }
}
