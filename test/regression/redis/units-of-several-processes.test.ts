import { afterEach, expect, test } from '@jest/globals'
import { createLimiter, type Limiter, type PolicyInput } from '@sluice/limiter-core'
import { createRedis, redisBackend } from '@sluice/redis'
import { eachSeed } from '@sluice/testkit'
import { eventually } from '../../services/eventually.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const policy = { name: 'api', limit: 100_000, window: '1h', algorithm: 'fixed-window' } as const
/** Policies of one limiter; the first one is counted. */
const POLICIES: readonly (readonly PolicyInput[])[] = [
  [policy],
  [{ ...policy, algorithm: 'sliding-window' }],
  [{ ...policy, algorithm: 'sliding-window', slices: 6 }],
  [policy, { name: 'other', limit: 50_000, window: '1d', algorithm: 'sliding-window' }],
  [{ ...policy, ban: { after: 5, within: '1m', for: '1m' } }],
]

/** A limiter with a backend, a client and a health of its own, as another process has. */
function processOn(server: RedisServer, policies: readonly PolicyInput[]): Limiter {
  const client = createRedis(server.url, { retryStrategy: () => 20 })
  ends.push(() => client.disconnect())
  const limiter = createLimiter({ policies, backend: redisBackend(client), scope: 'units' })
  ends.push(() => limiter.close())
  return limiter
}

async function started(
  policies: readonly PolicyInput[],
): Promise<{ server: RedisServer; limiters: Limiter[]; counted: () => Promise<number> }> {
  const server = await startRedis()
  ends.push(() => server.stop())
  const limiters = Array.from({ length: 3 }, () => processOn(server, policies))
  const reader = processOn(server, policies)
  for (const limiter of [...limiters, reader]) {
    await eventually(async () => (await limiter.take('ready')).source === 'redis', { what: 'an answer of Redis' })
  }
  const counted = async (): Promise<number> => {
    await eventually(async () => (await reader.peek('a')).counted, { what: 'an answer of Redis' })
    return policy.limit - ((await reader.peek('a')).verdicts[0]?.remaining ?? 0)
  }
  return { server, limiters, counted }
}

/** Takes one unit of each process at once, `times` times. Returns how many were admitted. */
async function taken(limiters: readonly Limiter[], times: number, everyMs: number): Promise<number> {
  let admitted = 0
  const takes: Promise<void>[] = []
  for (let time = 0; time < times; time++) {
    for (const limiter of limiters) {
      takes.push(
        Promise.resolve(limiter.take('a')).then(({ allowed }) => {
          if (allowed) admitted++
        }),
      )
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
  await Promise.all(takes)
  return admitted
}

test.each([
  ['less than two seconds', false, 4],
  ['seven seconds', true, 1],
])('a Redis that stalls for %s counts each unit that several processes admitted meanwhile once', (_, isLong, seeds) =>
  eachSeed(seeds, async (random) => {
    const { server, limiters, counted } = await started(random.pick(POLICIES))
    let admitted = await taken(limiters, 20, 2)
    server.pause()
    // a stall of seconds outlasts the connections
    const times = isLong ? 500 : 40 + random.whole(40)
    admitted += await taken(limiters, times, isLong ? 14 : 5 + random.whole(20))
    server.resume()
    for (const limiter of limiters) {
      await eventually(
        async () => {
          admitted++
          return (await limiter.take('a')).source === 'redis'
        },
        { what: 'an answer of Redis' },
      )
    }
    admitted += await taken(limiters, 20, 2)
    // the first call after an outage may report units before the reply to the last one before it arrives
    expect(Math.abs((await counted()) - admitted)).toBeLessThanOrEqual(limiters.length)
    for (const end of ends.splice(0).reverse()) await end()
  }),
)

test('a Redis that restarts without its data counts at least the units that several processes admitted', () =>
  eachSeed(3, async (random) => {
    const { server, limiters, counted } = await started(random.pick(POLICIES))
    let admitted = await taken(limiters, 20, 2)
    await server.kill()
    admitted += await taken(limiters, 40 + random.whole(40), 5 + random.whole(20))
    await server.start()
    for (const limiter of limiters) {
      await eventually(
        async () => {
          admitted++
          return (await limiter.take('a')).source === 'redis'
        },
        { what: 'an answer of Redis' },
      )
    }
    admitted += await taken(limiters, 20, 2)
    // the first call after an outage may report units before the reply to the last one before it arrives
    expect(Math.abs((await counted()) - admitted)).toBeLessThanOrEqual(limiters.length)
    for (const end of ends.splice(0).reverse()) await end()
  }))
