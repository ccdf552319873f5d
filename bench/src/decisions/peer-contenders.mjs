// Each store is called with the arguments of its own middleware, and its result is read the same way.

export const peerContenders = [
  {
    name: 'express-rate-limit MemoryStore',
    role: 'peer',
    awaited: true,
    async open({ limit, windowMs }) {
      const { MemoryStore } = await import('express-rate-limit')
      const store = new MemoryStore()
      store.init({ windowMs })
      return { take: (key) => store.increment(key), allowed: (counted) => counted.totalHits <= limit }
    },
  },
  {
    name: 'rate-limiter-flexible Memory',
    role: 'peer',
    awaited: true,
    async open({ limit, windowMs }) {
      const { default: flexible } = await import('rate-limiter-flexible')
      const limiter = new flexible.RateLimiterMemory({ points: limit, duration: windowMs / 1_000 })
      // a denial is a rejection, which the calling loop catches
      return { take: (key) => limiter.consume(key, 1), allowed: () => true }
    },
  },
  {
    name: '@fastify/rate-limit LocalStore (default 5,000)',
    role: 'forgetful peer',
    open: (promise) => openLocalStore(promise, undefined),
  },
  {
    name: '@fastify/rate-limit LocalStore (cache = capacity)',
    role: 'peer',
    open: (promise) => openLocalStore(promise, promise.capacity),
  },
  {
    name: '@nestjs/throttler storage (limit 100)',
    role: 'peer',
    awaited: true,
    // it stores one timestamp per unit, so that a limit of 1e9 would be quadratic
    maxLimit: 100,
    async open({ limit, windowMs }) {
      const { ThrottlerStorageService } = (await import('@nestjs/throttler')).default
      const storage = new ThrottlerStorageService()
      return {
        take: (key) => storage.increment(key, windowMs, limit, windowMs, 'default'),
        allowed: (record) => !record.isBlocked,
      }
    },
  },
  {
    name: 'koa-ratelimit memory',
    role: 'peer',
    awaited: true,
    async open({ limit, windowMs }) {
      const { default: MemoryLimiter } = await import('koa-ratelimit/limiter/memory.js')
      const options = { driver: 'memory', db: new Map(), max: limit, duration: windowMs }
      return {
        take: (key) => new MemoryLimiter({ ...options, id: key }).get(),
        allowed: (entry) => entry.remaining > 0,
      }
    },
  },
]

async function openLocalStore({ limit, windowMs }, cache) {
  const { default: LocalStore } = await import('@fastify/rate-limit/store/LocalStore.js')
  const store = new LocalStore(false, false, cache)
  let answer
  const receive = (_error, counted) => {
    answer = counted
  }
  const take = (key) => {
    store.incr(key, receive, windowMs, limit)
    return answer
  }
  return { take, allowed: (counted) => counted.current <= limit }
}
