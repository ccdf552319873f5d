import { randomUUID } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import {
  algorithms,
  type Backend,
  type Charge,
  type CompiledPolicy,
  type Policy,
  type ScriptRunner,
} from '@sluice/limiter-core/backend'
import { leasedBackend, redisBackend, scriptRunner } from '@sluice/redis'
import { LeasedFleet, seededRandom } from '@sluice/testkit'
import { eventually } from '../../services/eventually.ts'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'

const redis = redisClientForTests()

const calm = { lostOneIn: 0, lateOneIn: 0 }
const hour: Policy = { name: 'hour', algorithm: 'sliding-window', limit: 100, windowMs: 3_600_000 }
const compiled: CompiledPolicy = algorithms['sliding-window'].compile(hour)
const NAME = 'once/hour'

/** Creates charges of a backend. */
function chargesOf(backend: Backend): (key: string, cost?: number) => Charge {
  const counter = backend.open(compiled, NAME)
  return (key, cost = 1) => ({ key, counter, cost })
}

/** Units of a key left in Redis. */
async function remaining(prefix: string, key: string): Promise<number> {
  const exact = redisBackend(redis.client, { prefix })
  return (await exact.peekAll([chargesOf(exact)(key)])).verdicts[0].remaining
}

/** A runner that counts its calls by script and key. */
function counting(): { readonly runner: ScriptRunner; readonly calls: string[]; keys: number } {
  const inner = scriptRunner(redis.client)
  const counted = {
    calls: [] as string[],
    keys: 0,
    runner: {
      ...inner,
      run(...[script, keys, args, options]: Parameters<ScriptRunner['run']>): Promise<unknown> {
        counted.calls.push(script.name)
        counted.keys += keys.length
        return inner.run(script, keys, args, options)
      },
    },
  }
  return counted
}

async function stored(prefix: string): Promise<string[]> {
  return (await redis.client.keys(`${prefix}*`)).map((key) => key.slice(prefix.length)).sort()
}

describe('keys that are seen once', () => {
  test('cost as many calls as with redisBackend, and leave the same units', async () => {
    const takes = async (make: typeof redisBackend | typeof leasedBackend): Promise<[number, string[]]> => {
      const prefix = randomUUID()
      const { runner, calls } = counting()
      const backend = make(runner, { prefix })
      const counter = backend.open(compiled, NAME)
      await backend.takeAll([{ key: 'first of all', counter, cost: 1 }])
      calls.length = 0
      for (let key = 0; key < 100; key++) {
        const alone = await counter.take(`alone ${key}`, 1)
        expect(alone).toMatchObject({ allowed: true, remaining: 99 })
      }
      await Promise.all(Array.from({ length: 1_000 }, (_, key) => counter.take(`key ${key}`, 1)))
      await backend.close?.()
      return [calls.length, await stored(prefix)]
    }
    const [exactCalls, exactKeys] = await takes(redisBackend)
    const [leasedCalls, leasedKeys] = await takes(leasedBackend)
    expect(leasedKeys).toEqual(exactKeys)
    expect(leasedCalls).toBe(exactCalls)
  })

  test('are leased when they are seen again', async () => {
    const prefix = randomUUID()
    const leased = leasedBackend(redis.client, { prefix })
    const charge = chargesOf(leased)
    await leased.takeAll([charge('a')])
    expect(await stored(prefix)).toEqual([':{a}:once/hour/3600000'])
    await leased.takeAll([charge('a')])
    expect(await stored(prefix)).toEqual([':{a}:once/hour/3600000', ':{a}:once/hour/3600000:leases'])
    // a lease of several units
    expect(leased.takeAll([charge('a')])).not.toBeInstanceOf(Promise)
    await leased.close?.()
    expect(await remaining(prefix, 'a')).toBe(97)
  })

  test('do not take units that another process has leased', async () => {
    const prefix = randomUUID()
    const one = leasedBackend(redis.client, { prefix, fraction: 0.5 })
    const other = leasedBackend(redis.client, { prefix, fraction: 0.5 })
    const charge = chargesOf(one)
    await one.takeAll([charge('a')])
    await one.takeAll([charge('a', 10)])
    const charged = 100 - (await remaining(prefix, 'a'))
    expect(charged).toBeLessThan(11)
    const counter = other.open(compiled, NAME)
    // exactly the keys that would fit if nothing were leased
    expect(await counter.take('a', 100 - charged)).toMatchObject({ allowed: false, source: 'leased' })
    expect(await counter.take('a', 10)).toMatchObject({ allowed: true, source: 'leased' })
    await Promise.all([one.close?.(), other.close?.()])
    expect(await remaining(prefix, 'a')).toBe(79)
  })

  test('are refunded if another policy of the request denies', async () => {
    const prefix = randomUUID()
    const leased = leasedBackend(redis.client, { prefix })
    const exact = redisBackend(redis.client, { prefix })
    await exact.takeAll([chargesOf(exact)('full', 100)])
    const charge = chargesOf(leased)
    const { verdicts } = await leased.takeAll([charge('new', 5), charge('full', 1)])
    expect(verdicts).toMatchObject([
      { allowed: true, remaining: 100 },
      { allowed: false, remaining: 0 },
    ])
    const isBack = async (): Promise<boolean> => (await remaining(prefix, 'new')) === 100
    await eventually(isBack, { what: 'a refund' })
    await leased.close?.()
  })

  test('can be refunded by the time of their take', async () => {
    const prefix = randomUUID()
    const leased = leasedBackend(redis.client, { prefix })
    const charge = chargesOf(leased)
    const { takenAt } = await leased.takeAll([charge('a', 10)])
    await leased.takeAll([charge('a', 2)])
    await leased.adjustAll([charge('a', -10)], takenAt)
    await leased.close?.()
    expect(await remaining(prefix, 'a')).toBe(98)
  })
})

describe('a key with 1,000 requests a second', () => {
  const large = algorithms['sliding-window'].compile({
    name: 'large',
    algorithm: 'sliding-window',
    limit: 1_000_000,
    windowMs: 3_600_000,
  })

  // twenty tasks, in step with each other or not; an answer takes up to 14 ms
  test.each([
    ['in groups of twenty', 20, 20, 20],
    ['one at a time', 1, 1, 30],
  ])('%s waits for Redis only at the start', async (_, crowd, everyMs, most) => {
    const fleet = new LeasedFleet(seededRandom(1), { fraction: 0.1, leaseMs: 2_000 }, calm)
    const { backend } = fleet.start()
    const counter = backend.open(large, 'large')
    let waited = 0
    for (let ms = 0; ms < 20_000; ms += everyMs) {
      for (let task = 0; task < crowd; task++) {
        const answer = backend.takeAll([{ key: 'hot', counter, cost: 1 }])
        if (answer instanceof Promise) waited++
      }
      await fleet.pass(everyMs)
    }
    expect(waited).toBeGreaterThan(0)
    expect(waited).toBeLessThanOrEqual(most)
  })
})
