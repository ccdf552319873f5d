/**
 * For so long a command that must not be run twice may arrive, and Redis remembers that it ran: longer than a client tries
 * to send again what a broken connection left unanswered (20 times, some 11 s with ioredis as it is).
 */
export const IDEMPOTENT_MS = 30_000
