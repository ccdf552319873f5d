import { systemClock } from '@sluice/limiter-core/backend'

// at most two connects per second, whatever makes them fail, even a server that accepts and closes connections
const SPACING_MS = 500
// so that processes do not reconnect at the same moment
const JITTER_MS = 100

/**
 * A `retryStrategy` that never gives up: the first retry within a tenth of a second, further ones every half second.
 */
export function reconnectDelays(): () => number {
  let lastAt = Number.NEGATIVE_INFINITY
  return () => {
    const now = systemClock.now()
    lastAt = Math.max(now, lastAt + SPACING_MS) + 10 + Math.random() * JITTER_MS
    return lastAt - now
  }
}
