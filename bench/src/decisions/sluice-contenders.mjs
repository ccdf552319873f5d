import { handedClock } from './map-contenders.mjs'

const allowed = (decision) => decision.allowed

async function openLimiter(algorithm, promise) {
  const { createLimiter, memoryBackend } = await import('@sluice/limiter-core')
  const backend = memoryBackend({ maxBytes: promise.maxBytes })
  return createLimiter({ policies: [policyOf(algorithm, promise)], backend })
}

export function policyOf(algorithm, { limit, windowMs }) {
  // gcra rejects less than 1 ms per unit: a large limit becomes a burst that no run exhausts
  const finest = algorithm === 'gcra' ? Math.min(limit, windowMs) : limit
  const policy = { name: 'api', limit: finest, window: windowMs, algorithm }
  return finest < limit ? { ...policy, burst: limit } : policy
}

function handed(algorithm) {
  return {
    name: `sluice ${algorithm}, clock handed in`,
    role: 'sluice',
    handed: true,
    async open(promise) {
      const limiter = await openLimiter(algorithm, promise)
      const tick = handedClock()
      return { take: (key) => limiter.take(key, 1, tick()), allowed }
    },
  }
}

// if every key must fit, space for larger keys
const roomOfLogs = 8

/** A log with capacity for this number of units; a limit of fewer requests spends them in larger takes. */
function log(units) {
  return {
    name: `sluice sliding-log of ${units}, clock handed in`,
    role: 'sluice',
    handed: true,
    maxLimit: units,
    onlyMemory: true,
    async open(promise) {
      const maxBytes = promise.holdsAll ? promise.maxBytes * roomOfLogs : promise.maxBytes
      const limiter = await openLimiter('sliding-log', { ...promise, maxBytes, limit: units })
      const cost = Math.floor(units / promise.limit)
      const tick = handedClock()
      return { take: (key) => limiter.take(key, cost, tick()), allowed }
    },
  }
}

export const sluiceContenders = [
  handed('fixed-window'),
  handed('sliding-window'),
  handed('gcra'),
  handed('token-bucket'),
  ...[1, 2, 5, 10, 32].map(log),
  {
    name: 'sluice sliding-window, own clock',
    role: 'sluice',
    handed: false,
    async open(promise) {
      const limiter = await openLimiter('sliding-window', promise)
      return { take: (key) => limiter.take(key), allowed }
    },
  },
]
