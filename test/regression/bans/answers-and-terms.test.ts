import { afterAll, expect, test } from '@jest/globals'
import { type FetchReply, rateLimit } from '@sluice/fetch'
import { createLimiter, type Limiter, memoryBackend, type PolicyInput } from '@sluice/limiter-core'
import { policies } from '@sluice/policies'
import { redisBackend } from '@sluice/redis'
import { eachSeed, FakeClock } from '@sluice/testkit'
import { TextSource } from '../../policies/text-source.ts'
import { eventually } from '../../services/eventually.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'

const MINUTE = 60_000
const FIXED = { name: 'api', limit: 5, window: '1h', algorithm: 'fixed-window' } as const

let server: RedisServer | undefined
afterAll(() => server?.stop())

test('a client that obeys Retry-After passes at its first return', async () => {
  await eachSeed(60, async (random) => {
    const clock = new FakeClock()
    const algorithm = random.pick(['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra'] as const)
    const ban = {
      after: 1 + random.whole(3),
      within: '1h',
      for: random.pick(['1m', '10m', '2h'] as const),
      growth: 1 + random.whole(2),
      extend: random.whole(3) === 0,
    } as const
    const more: PolicyInput[] =
      random.whole(2) === 0 ? [{ name: 'day', limit: 6, window: '1d', algorithm: 'fixed-window' }] : []
    const limiter = createLimiter({
      policies: [{ ...FIXED, algorithm, ban }, ...(more as [])],
      clock,
      backend: memoryBackend({ clock }),
    })
    let sent = 0
    while (limiter.take('a').allowed) sent++
    expect(sent).toBe(5)
    // impatient until the ban begins, then obedient
    for (let denied = 1; denied < ban.after; denied++) expect(limiter.take('a').allowed).toBe(false)
    const { allowed, retryAfterMs, source } = limiter.take('a')
    expect([allowed, source]).toEqual([false, 'banned'])
    expect(limiter.peek('a').retryAfterMs).toBe(retryAfterMs)
    clock.advance(retryAfterMs)
    expect(limiter.take('a').allowed).toBe(true)
    limiter.close()
  })
})

test.each([1, 2, 3])('the request of strike %i has the denial of the limit, in memory as on Redis', async (after) => {
  server ??= await startRedis()
  const client = server.client()
  const ban = { after, within: '1h', for: '10m' } as const
  const policy = [{ ...FIXED, limit: 1, ban }] as const
  const bans: object[] = []
  const observers = [{ event: (name: string, data: object) => void (name === 'ban' && bans.push(data)) }]
  const sources = async (limiter: Limiter): Promise<readonly string[]> => {
    bans.splice(0)
    await limiter.take('a')
    const all: string[] = []
    for (let at = 0; at < after + 2; at++) {
      const { source } = await limiter.take('a')
      all.push(source === 'banned' ? 'banned' : 'denied')
      // the strike of a remote backend is counted without waiting for it
      if (all.length === after) await eventually(async () => bans.length > 0, { what: 'the ban' })
    }
    return all
  }
  const clock = new FakeClock()
  const memory = createLimiter({ policies: policy, backend: memoryBackend({ clock }), clock, observers })
  const redis = createLimiter({
    policies: policy,
    backend: redisBackend(client, { prefix: `strikes-${after}` }),
    deadlineMs: 5_000,
    observers,
  })
  const expected = [...Array(after).fill('denied'), 'banned', 'banned']
  expect(await sources(memory)).toEqual(expected)
  expect(await sources(redis)).toEqual(expected)
  redis.close()
  memory.close()
})

const TERMS = [
  'for: 10m',
  'for: 2d',
  'for: 20m',
  'for: 10m, growth: 2',
  'for: 10m, growth: 2, max: 7d',
  'for: 10m, max: 7d',
  'for: 5m, extend: true',
] as const

test.each(TERMS.flatMap((from) => TERMS.filter((to) => to !== from).map((to) => [from, to] as const)))(
  'a running ban keeps its end when its terms change from %s to %s',
  async (from, to) => {
    const clock = new FakeClock({ nowMs: 5 * MINUTE })
    const textOf = (terms: string): string =>
      `version: 1\npolicies: [{ name: api, limit: 1, per: 1m, ban: { after: 3, within: 1m, ${terms} } }]`
    const source = new TextSource(textOf(from))
    const loaded = policies<Request, FetchReply>(source)
    const limit = rateLimit({ ...loaded, clock, backend: memoryBackend({ clock }) })
    for (let at = 0; at < 5; at++) await limit.limiter.take('a')
    const { retryAfterMs: before } = await limit.limiter.peek('a')
    clock.advance(MINUTE)
    source.text = textOf(to)
    await loaded.policies.reload()
    const after = await limit.limiter.peek('a')
    expect([after.source, after.retryAfterMs]).toEqual(['banned', before - MINUTE])
    clock.advance(before - MINUTE)
    expect((await limit.limiter.take('a')).allowed).toBe(true)
    limit.close()
  },
)
