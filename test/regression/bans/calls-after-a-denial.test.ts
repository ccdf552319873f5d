import { request } from 'node:http'
import { expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/express'
import type { BanInput } from '@sluice/limiter-core'
import { redisBackend } from '@sluice/redis'
import express from 'express'
import { Redis } from 'ioredis'
import { running } from '../../adapters/running-app.ts'
import { endedAfterEach } from '../../services/for-tests.ts'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'

const ownRedis = redisClientForTests()
const open = endedAfterEach<{ close(): unknown }>((app) => app.close())

interface Site {
  readonly redis: Redis
  readonly errors: string[]
  readonly limit: ReturnType<typeof rateLimit>
  get(): Promise<number>
}

/** An application whose handler always answers 401, and a connection to Redis of its own. */
async function serving(name: string, options: object): Promise<Site> {
  const redis = new Redis({ port: ownRedis.server.port, lazyConnect: true })
  await redis.connect()
  const errors: string[] = []
  redis.on('error', (error) => errors.push(error.message))
  const limit = rateLimit({
    name,
    window: '1m',
    key: () => 'client',
    backend: redisBackend(redis),
    // a busy machine takes longer than the default
    deadlineMs: 20_000,
    ...options,
  } as never)
  const app = express()
  app.use(limit)
  app.get('/', (_req, res) => void res.status(401).end())
  const site = await running(app)
  open.push(site, limit)
  const get = (): Promise<number> =>
    new Promise((resolve) => {
      const asked = { port: site.port, host: '127.0.0.1', agent: false }
      request(asked, (response) => resolve(response.resume().statusCode as number)).end()
    })
  return { redis, errors, limit, get }
}

async function calls(): Promise<number> {
  const stats = await ownRedis.client.info('commandstats')
  return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0)
}

const once = { after: 1, within: '1m', for: '10m' } as const
/**
 * The number of calls of the request that begins the ban: to decide, to count the strike, to count the
 * ban if it grows, to write it and to clear the strikes. The response waits for the first call only.
 */
const rows: readonly (readonly [string, object, BanInput, number])[] = [
  ['a ban of constant length', { limit: 1 }, once, 4],
  ['a ban that grows', { limit: 1 }, { ...once, growth: 2, max: '1h' }, 5],
  ['a ban that denials extend', { limit: 1 }, { ...once, extend: true }, 4],
  ['a ban for failures', { limit: 9 }, { ...once, after: 2, strikes: 'failures' }, 4],
  ['a ban of failures that count', { limit: 1, countOnly: 'failures' }, once, 4],
]

/** Sends the requests up to the first denial or the last strike, and one more. Returns the calls of each. */
async function callsOf({ get, limit }: Site): Promise<number[]> {
  const made: number[] = []
  for (let times = 0; times < 3; times++) {
    const before = await calls()
    await get()
    await limit.idle()
    made.push((await calls()) - before)
  }
  return made
}

test.each(rows)('idle() waits for %s, so that Redis can be closed', async (name, options, ban, written) => {
  // Redis loads the scripts when it first needs them
  const warm = await serving(`${name}, to load`, { ...options, ban })
  await callsOf(warm)
  await warm.redis.quit()
  const site = await serving(name, { ...options, ban })
  const [, begins, banned] = await callsOf(site)
  await site.redis.quit()
  expect([begins, banned, site.errors]).toEqual([written, 0, []])
})

test.each(rows)('%s stands after Redis was closed as soon as idle() resolved', async (name, options, ban) => {
  const all = { ...options, ban, scope: 'closed at once' }
  const first = await serving(name, all)
  await first.get()
  await first.limit.idle()
  await first.get()
  await first.limit.idle()
  await first.redis.quit()
  expect(first.errors).toEqual([])
  const second = await serving(name, all)
  expect(await second.get()).toBe(429)
  expect((await second.limit.limiter.peek('client')).source).toBe('banned')
  await second.redis.quit()
})
