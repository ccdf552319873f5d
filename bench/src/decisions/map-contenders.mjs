// Baselines: the cost of minimal limits written by hand for one process.

function fixedWindow({ limit, windowMs }) {
  const entries = new Map()
  return (key, now) => {
    const entry = entries.get(key)
    if (entry === undefined) {
      entries.set(key, { used: 1, endsAt: now + windowMs })
      return true
    }
    if (now >= entry.endsAt) {
      entry.used = 0
      entry.endsAt = now + windowMs
    }
    entry.used++
    return entry.used <= limit
  }
}

const same = (allowed) => allowed

/** The contender that ratio columns divide by. */
export const yardstick = 'bare Map fixed window'

/** The contender whose garbage is that of the benchmark itself. */
export const emptyLoop = 'noop (loop and key)'

export const mapContenders = [
  { name: emptyLoop, role: 'floor', counts: false, open: () => ({ take: () => true, allowed: same }) },
  {
    name: 'Date.now() only',
    role: 'floor',
    counts: false,
    open: () => ({ take: () => Date.now() > 0, allowed: same }),
  },
  {
    name: yardstick,
    role: 'floor',
    open(promise) {
      const take = fixedWindow(promise)
      return { take: (key) => take(key, Date.now()), allowed: same }
    },
  },
  {
    name: 'bare Map fixed window, clock handed in',
    role: 'floor',
    open(promise) {
      const take = fixedWindow(promise)
      const tick = handedClock()
      return { take: (key) => take(key, tick().now), allowed: same }
    },
  },
  {
    name: 'lru-cache fixed window',
    role: 'floor',
    async open({ limit, windowMs, capacity }) {
      const { LRUCache } = await import('lru-cache')
      const entries = new LRUCache({ max: capacity })
      const take = (key) => {
        const now = Date.now()
        const entry = entries.get(key)
        if (entry === undefined || now >= entry.endsAt) {
          entries.set(key, { used: 1, endsAt: now + windowMs })
          return true
        }
        entry.used++
        return entry.used <= limit
      }
      return { take, allowed: same }
    },
  },
]

/** One clock reading serves a thousand decisions, as an adapter's reading serves all limits of a request. */
export function handedClock() {
  const moment = { now: performance.now() }
  let calls = 0
  return () => {
    if (++calls === 1_000) {
      calls = 0
      moment.now += 1
    }
    return moment
  }
}
