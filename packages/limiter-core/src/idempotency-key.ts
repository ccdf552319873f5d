import { randomBytes } from 'node:crypto'
import type { IdempotencyKey } from './contracts.ts'

/** Keeps the keys of this copy of the package apart from those of all others. */
const owner = randomBytes(9).toString('base64url')
let made = 0

/** A key that no other command has; `now` is a reading of the process clock. */
export function newIdempotencyKey(now: number): IdempotencyKey {
  return { id: `${owner}${(made++).toString(36)}`, issuedAt: now }
}
