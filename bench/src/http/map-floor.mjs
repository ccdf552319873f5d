import { windowMs } from './both-ways.mjs'

/** A minimal hand-written limiter with two draft headers: returns its result for a key in the form of this framework. */
export function mapFloor(limit) {
  const entries = new Map()
  return {
    policy: `"default";q=${limit};w=${windowMs / 1_000}`,
    /** Header values for the key, and for a denial the seconds to wait. */
    take(key) {
      const now = Date.now()
      let entry = entries.get(key)
      if (entry === undefined || now >= entry.endsAt) {
        entry = { used: 0, endsAt: now + windowMs }
        entries.set(key, entry)
      }
      entry.used++
      const seconds = Math.ceil((entry.endsAt - now) / 1_000)
      return {
        said: `"default";r=${Math.max(0, limit - entry.used)};t=${seconds}`,
        retryAfter: entry.used <= limit ? undefined : seconds,
      }
    },
  }
}
