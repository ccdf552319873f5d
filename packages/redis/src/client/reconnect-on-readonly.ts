import { systemClock } from '@sluice/limiter-core/backend'

const ONCE_IN_MS = 100

/**
 * A `reconnectOnError` that leaves a primary that has become a replica and refuses writes, to look for the new one.
 * Only once for simultaneous replies: ioredis would close the connection again for each, with another listener and
 * timer.
 */
export function reconnectOnReadonly(): (error: Error) => boolean {
  let leftAt = Number.NEGATIVE_INFINITY
  return ({ message }) => {
    if (!message.startsWith('READONLY')) return false
    const now = systemClock.now()
    if (now - leftAt < ONCE_IN_MS) return false
    leftAt = now
    return true
  }
}
