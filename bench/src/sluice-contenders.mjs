import { handedClock } from './map-contenders.mjs'

const allowed = (decision) => decision.allowed

async function openLimiter(algorithm, { limit, windowMs, maxBytes }) {
  const { createLimiter, memoryBackend } = await import('@sluice/limiter-core')
  // gcra refuses less than 1 ms a unit: a large limit becomes a burst that no run uses up
  const finest = algorithm === 'gcra' ? Math.min(limit, windowMs) : limit
  const policy = { name: 'api', limit: finest, window: windowMs, algorithm }
  if (finest < limit) policy.burst = limit
  return createLimiter({ policies: [policy], backend: memoryBackend({ maxBytes }) })
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

export const sluiceContenders = [
  handed('fixed-window'),
  handed('sliding-window'),
  handed('gcra'),
  handed('token-bucket'),
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
