import { systemClock } from '@sluice/limiter-core/backend'

// two connects a second at most, whatever makes them fail, even a server that accepts and hangs up
const SPACING_MS = 500
// so that a fleet does not come back in one instant
const JITTER_MS = 100

/** A `retryStrategy` that never gives up: the first try comes within a tenth of a second, further ones every half. */
export function reconnectDelays(): () => number {
  let lastAt = Number.NEGATIVE_INFINITY
  return () => {
    const now = systemClock.now()
    lastAt = Math.max(now, lastAt + SPACING_MS) + 10 + Math.random() * JITTER_MS
    return lastAt - now
  }
}
