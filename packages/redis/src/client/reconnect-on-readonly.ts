import { systemClock } from '@sluice/limiter-core/backend'

const ONCE_IN_MS = 100

/**
 * A `reconnectOnError` that leaves a primary which became a replica and refuses writes, to look for the new one. Once for
 * all replies that come together: ioredis closes a connection anew for each, with a listener and a timer of its own.
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
