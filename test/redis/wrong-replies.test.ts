import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { type Backend, createInflightLimiter, createLimiter, type Limiter, type Permit } from '@sluice/limiter-core'
import { afterThisTurn, systemClock } from '@sluice/limiter-core/backend'
import { leasedBackend, redisBackend, redisInflight, scriptRunner, syncedBackend } from '@sluice/redis'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../services/redis/redis-server.ts'
import { ownPrefix } from './exact/own-prefix.ts'
import { WrongRunner } from './wrong-runner.ts'

const RUNS = 12
const CALLS = 60
const DEADLINE_MS = 50
const STEP_MS = 5
const LIMIT = 100_000

jest.setTimeout(600_000)

let server: RedisServer
let client: Redis
let lost: unknown[] = []
const onLost = (error: unknown): void => void lost.push(error)

beforeAll(async () => {
  server = await startRedis()
  client = server.client()
  await client.ping()
  process.on('unhandledRejection', onLost)
})

afterAll(async () => {
  process.off('unhandledRejection', onLost)
  await server.stop()
})

const turn = (): Promise<void> => new Promise((resolve) => afterThisTurn(resolve))

/** A process whose clock advances only while Redis owes no reply, so that only wrong replies are late. */
class Site {
  readonly clock = new FakeClock({ wallMs: systemClock.wall() })
  readonly prefix = ownPrefix()
  readonly runner: WrongRunner
  readonly random: SeededRandom

  constructor(random: SeededRandom) {
    this.random = random
    const runner = scriptRunner(client)
    this.runner = new WrongRunner({ runner, random, clock: this.clock, lateMs: 2 * DEADLINE_MS })
  }

  /** Waits for an answer, which must arrive within the deadline. */
  async answer<T>(call: () => T | Promise<T>): Promise<T> {
    const { clock, runner } = this
    const askedAt = clock.now()
    let isSettled = false
    const asked = Promise.resolve(call())
    const settled = (): void => {
      isSettled = true
    }
    asked.then(settled, settled)
    for (await turn(); !isSettled; await turn()) {
      if (runner.underWay === 0) clock.advance(STEP_MS)
      if (clock.now() - askedAt > 3 * DEADLINE_MS) throw new Error('no answer within three times the deadline')
    }
    expect(clock.now() - askedAt).toBeLessThanOrEqual(DEADLINE_MS + STEP_MS)
    return asked
  }

  async passes(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      this.clock.advance(STEP_MS)
      do await turn()
      while (this.runner.underWay > 0)
    }
  }

  /** Repeats a check for up to 20 s of the process clock. */
  async eventually(check: () => boolean | Promise<boolean>, what: string): Promise<void> {
    for (let tries = 0; tries < 80; tries++) {
      if (await check()) return
      await this.passes(250)
    }
    throw new Error(`${what} (after ${this.runner.given.slice(-12).join(' | ')})`)
  }
}

/** Fails with the wrong replies that preceded the failure. */
async function described(site: Site, run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    throw new Error(`${(error as Error).message}\nafter ${site.runner.given.slice(-8).join(' | ')}`, { cause: error })
  }
}

const policy = { name: 'api', algorithm: 'fixed-window', limit: LIMIT, window: '1h' } as const

type Rule = 'allow' | 'deny'
type Make = (site: Site, onBackendError: Rule) => Backend
const backends: readonly (readonly [string, Make])[] = [
  ['redisBackend', ({ runner, prefix, clock }) => redisBackend(runner, { prefix, clock })],
  ['leasedBackend', ({ runner, prefix, clock }) => leasedBackend(runner, { prefix, clock })],
  [
    'syncedBackend',
    ({ runner, prefix, clock }, onBackendError) => syncedBackend(runner, { prefix, clock, nodes: 1, onBackendError }),
  ],
]

test.each(backends)(
  '%s decides by the failure rule within the deadline whatever Redis replies, and counts afterwards',
  async (_, make) => {
    lost = []
    await eachSeed(RUNS, async (random) => {
      const site = new Site(random)
      const rule = random.pick<Rule>(['allow', 'deny'])
      const backend = make(site, rule)
      const { clock } = site
      const limiter = createLimiter({
        policies: [{ ...policy, backend }],
        clock,
        scope: 'wrong',
        deadlineMs: DEADLINE_MS,
        onBackendError: rule,
      })
      await described(site, async () => {
        site.runner.share = random.pick([0.3, 0.7, 1])
        for (let call = 0; call < CALLS; call++) {
          await decide(site, limiter, rule)
          if (random.whole(4) === 0) await site.passes(random.whole(400))
        }
        site.runner.share = 0
        await site.passes(1_000)
        await countsAgain(site, limiter)
      })
      limiter.close()
      const closed = backend.close?.()
      await site.passes(3_000)
      await closed
    })
    await turn()
    expect(lost).toEqual([])
  },
)

async function decide(site: Site, limiter: Limiter, rule: Rule): Promise<void> {
  const key = site.random.pick(['a', 'b'])
  const decision = await site.answer(() => limiter.take(key))
  const { allowed, counted, binding, retryAfterMs } = decision
  if (!counted) expect([allowed, rule]).toEqual([rule === 'allow', rule])
  expect([binding.remaining, binding.resetAfterMs, retryAfterMs].filter(Number.isNaN)).toEqual([])
}

async function countsAgain(site: Site, limiter: Limiter): Promise<void> {
  const exact = redisBackend(client, { prefix: site.prefix })
  const reader = createLimiter({ policies: [{ ...policy, backend: exact }], scope: 'wrong', deadlineMs: 20_000 })
  const left = async (): Promise<number> => (await reader.peek('fresh')).binding.remaining
  await site.eventually(async () => (await site.answer(() => limiter.take('fresh'))).counted, 'was not counted')
  const before = await left()
  for (let taken = 0; taken < 10; taken++) {
    const { allowed, counted } = await site.answer(() => limiter.take('fresh'))
    expect({ allowed, counted }).toEqual({ allowed: true, counted: true })
  }
  await site.eventually(async () => (await left()) <= before - 10 || (await left()) < LIMIT - 10, 'was not in Redis')
  reader.close()
  await exact.close?.()
}

test('redisInflight answers within the deadline whatever Redis replies, and shares its count afterwards', async () => {
  lost = []
  await eachSeed(RUNS, async (random) => {
    const site = new Site(random)
    const { clock, prefix } = site
    const backend = redisInflight(site.runner, { prefix, clock, deadlineMs: DEADLINE_MS, leaseMs: '1m' })
    const limit = 5
    const cap = createInflightLimiter({ name: 'cap', limit, backend })
    const held: Permit[] = []
    await described(site, async () => {
      site.runner.share = random.pick([0.3, 0.7, 1])
      for (let call = 0; call < CALLS; call++) {
        if (random.whole(3) === 0) held.pop()?.release()
        else {
          const permit = await site.answer(() => cap.acquire('a'))
          if (permit) held.push(permit)
        }
        const count = await site.answer(() => cap.count('a'))
        expect(Number.isInteger(count) && count >= 0).toBe(true)
        if (random.whole(4) === 0) await site.passes(random.whole(400))
      }
      site.runner.share = 0
      for (const permit of held.splice(0)) permit.release()
      await site.passes(1_000)
      const permit = await site.answer(() => cap.acquire('a'))
      expect(permit).toBeDefined()
      const other = redisInflight(client, { prefix, deadlineMs: 20_000, leaseMs: '1m' })
      const shared = async (): Promise<boolean> => (await other.count?.('a', { name: 'cap', limit })) === 1
      await site.eventually(shared, 'the count was not shared')
      permit?.release()
      await other.close?.()
    })
    const closed = backend.close?.()
    await site.passes(500)
    await closed
  })
  await turn()
  expect(lost).toEqual([])
})
