// Each store is called with the arguments of its own middleware, and its result is read the same way.
import { connect } from './redis-client.mjs'

async function openRateLimitRedis({ port, windowMs, scope }, name = 'one') {
  const client = await connect(port)
  const { RedisStore } = await import('rate-limit-redis')
  const sendCommand = (command, ...args) => client.call(command, ...args)
  const store = new RedisStore({ sendCommand, prefix: `rlr:${scope}:${name}:` })
  await store.init({ windowMs })
  return store
}

export const redisPeers = [
  {
    name: 'rate-limit-redis',
    role: 'peer',
    async open(promise) {
      const store = await openRateLimitRedis(promise)
      return { take: (key) => store.increment(key), allowed: ({ totalHits }) => totalHits <= promise.limit }
    },
  },
  {
    name: 'rate-limiter-flexible',
    role: 'peer',
    async open({ port, limit, windowMs, scope }) {
      const { default: flexible } = await import('rate-limiter-flexible')
      const storeClient = await connect(port)
      const options = { storeClient, points: limit, duration: windowMs / 1_000, keyPrefix: `rlf:${scope}` }
      const limiter = new flexible.RateLimiterRedis(options)
      // a denial is a rejection
      return { take: (key) => limiter.consume(key, 1), allowed: () => true }
    },
  },
  {
    name: '@fastify/rate-limit',
    role: 'peer',
    async open({ port, limit, windowMs, scope }) {
      const { default: RedisStore } = await import('@fastify/rate-limit/store/RedisStore.js')
      const store = new RedisStore(false, false, await connect(port), `fastify:${scope}:`)
      const take = (key) =>
        new Promise((resolve, reject) => {
          store.incr(key, (error, counted) => (error ? reject(error) : resolve(counted)), windowMs, limit)
        })
      return { take, allowed: ({ current }) => current <= limit }
    },
  },
  {
    name: 'koa-ratelimit',
    role: 'peer',
    async open({ port, limit, windowMs, scope }) {
      const { default: RedisLimiter } = await import('koa-ratelimit/limiter/redis.js')
      const options = { driver: 'redis', db: await connect(port), max: limit, duration: windowMs }
      return {
        take: (key) => new RedisLimiter({ ...options, id: `${scope}:${key}` }).get(),
        allowed: ({ remaining }) => remaining > 0,
      }
    },
  },
  {
    name: 'rate-limit-redis, three policies',
    role: 'peer of three',
    async open(promise) {
      // three middleware layers would ask one after the other: in parallel is the more favourable measurement
      const stores = await Promise.all(['a', 'b', 'c'].map((name) => openRateLimitRedis(promise, name)))
      return {
        take: (key) => Promise.all(stores.map((store) => store.increment(key))),
        allowed: (answers) => answers.every(({ totalHits }) => totalHits <= promise.limit),
      }
    },
  },
]
