import { systemClock } from '@sluice/limiter-core/backend'

/** Minimum time between two reconnects. */
const RECONNECT_EVERY_MS = 100

/**
 * Returns a `reconnectOnError` that reconnects after a `READONLY` reply: the primary has become a replica and the
 * client must find the new primary. Replies that arrive together cause one reconnect, because ioredis would otherwise
 * close the connection once per reply, each time with a new listener and timer.
 */
export function reconnectOnReadonly(): (error: Error) => boolean {
  let reconnectedAt = Number.NEGATIVE_INFINITY
  return ({ message }) => {
    if (!message.startsWith('READONLY')) return false
    const now = systemClock.now()
    if (now - reconnectedAt < RECONNECT_EVERY_MS) return false
    reconnectedAt = now
    return true
  }
}
