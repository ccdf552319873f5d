import type { IdempotencyKey } from '../contracts.ts'

/**
 * Milliseconds for which a backend remembers the idempotency key of a command. Longer than a Redis client resends a
 * command after its connection broke (20 attempts, about 11 s, with the defaults of ioredis).
 */
export const IDEMPOTENT_MS = 30_000

/** Random prefix that makes keys unique across processes and copies of this package. */
let prefix: string | undefined
let created = 0

/** Returns a unique idempotency key; `now` is a reading of the process clock. */
export function newIdempotencyKey(now: number): IdempotencyKey {
  // 18 hexadecimal digits, of which four bits are not random; not while modules are loaded, where Workers forbid it
  prefix ??= crypto.randomUUID().replaceAll('-', '').slice(0, 18)
  return { id: `${prefix}${(created++).toString(36)}`, issuedAt: now }
}
