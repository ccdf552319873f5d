import { systemClock } from '@sluice/limiter-core/backend'

// at most two attempts per second, even if a server accepts each connection and closes it again
const SPACING_MS = 500
// so that the processes of a fleet do not all reconnect at the same time
const JITTER_MS = 100

/**
 * Returns a `retryStrategy` that never gives up: the first delay is 10 to 110 ms, later attempts follow every 0.5 s.
 */
export function reconnectDelays(): () => number {
  let lastAt = Number.NEGATIVE_INFINITY
  return () => {
    const now = systemClock.now()
    lastAt = Math.max(now, lastAt + SPACING_MS) + 10 + Math.random() * JITTER_MS
    return lastAt - now
  }
}

/**
 * Returns the delay in ms before attempt `retries`, counted from 0 since a connection was last lost: 10 to 110 ms, then
 * 0.5 s. For connections that share one function, which `reconnectDelays` would make wait for each other.
 */
export function reconnectDelay(retries: number): number {
  return (retries === 0 ? 10 : SPACING_MS) + Math.random() * JITTER_MS
}
