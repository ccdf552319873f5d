import { describe, expect, test } from '@jest/globals'
import type { Interruption, ScriptRunner } from '@sluice/limiter-core'
import { scriptRunner } from '@sluice/redis'
import { redisUniques } from '@sluice/redis/uniques'
import { RedisHyperLogLog } from '@sluice/sketches'
import { eachSeed, FakeClock } from '@sluice/testkit'
import { eventually } from '../../services/eventually.ts'
import { LossyRunner } from '../channel/lossy-runner.ts'
import { ownRedis } from '../channel/own-redis.ts'
import { ticking, turn } from '../channel/ticking.ts'
import { names, uniquesMembers } from './uniques-member.ts'

const redis = ownRedis()
const member = uniquesMembers(redis)

function countOf(...keys: readonly string[][]): number {
  const sketch = new RedisHyperLogLog()
  for (const key of keys.flat()) sketch.add(key)
  return sketch.count()
}

/** The stored sketch, without its cached count. */
async function registersAt(key: string): Promise<RedisHyperLogLog> {
  return RedisHyperLogLog.fromBytes((await redis.client.getBuffer(key)) as Buffer)
}

/** A runner that withholds answers while it is `holding`, and reports when the connection is back. */
class BreakingWay implements ScriptRunner {
  holding = true
  back: (() => void) | undefined
  readonly #runner: ScriptRunner
  readonly #held: (() => void)[] = []

  constructor(runner: ScriptRunner) {
    this.#runner = runner
  }

  async run(...call: Parameters<ScriptRunner['run']>): Promise<unknown> {
    const answer = await this.#runner.run(...call)
    if (this.holding) await new Promise<void>((resolve) => this.#held.push(resolve))
    return answer
  }

  /** Resolves when Redis has processed the calls. */
  asked(): Promise<void> {
    return eventually(async () => this.#held.length > 0, { what: 'a call' })
  }

  async answer(): Promise<void> {
    for (const answer of this.#held.splice(0)) answer()
    await turn()
  }

  interrupted(listener: (event: Interruption) => void): () => void {
    this.back = () => listener('back')
    return () => {
      this.back = undefined
    }
  }
}

describe('redisUniques', () => {
  test.each([3, 200, 1_500, 50_000])(
    'counts %i keys of each of three processes like one sketch that saw all',
    async (size) => {
      const prefix = redis.prefix()
      const members = [member(prefix), member(prefix), member(prefix)]
      const seen = [names(0, size), names(size / 2, size + size / 2), names(size, 2 * size)]
      for (const [at, { uniques }] of members.entries()) for (const key of seen[at]) uniques.add(key)
      for (const { exchange } of members) await exchange()
      await members[0].exchange()
      await members[1].exchange()
      expect(await redis.client.pfcount(`${prefix}:{clients}:uniques`)).toBe(countOf(...seen))
      expect(members.map(({ uniques }) => uniques.count())).toEqual(members.map(() => countOf(...seen)))
      expect(members.map(({ uniques }) => uniques.key)).toEqual(members.map(() => `${prefix}:{clients}:uniques`))
    },
  )

  test('counts its own items at once, and the items of others a tick later', async () => {
    const prefix = redis.prefix()
    const [one, other] = [member(prefix), member(prefix)]
    expect(one.uniques.count()).toBe(0)
    for (const key of ['a', 'b', 'a']) one.uniques.add(key)
    other.uniques.add('c')
    expect([one.uniques.count(), other.uniques.count()]).toEqual([2, 1])
    await one.exchange()
    await other.exchange()
    expect([one.uniques.count(), other.uniques.count()]).toEqual([2, 3])
    await one.exchange()
    expect(one.uniques.count()).toBe(3)
  })

  test('counts items of plain PFADD clients, and stores only the sketch and its creation time', async () => {
    const prefix = redis.prefix()
    const key = `${prefix}:{clients}:uniques`
    const { uniques, exchange } = member(prefix)
    await redis.client.pfadd(key, ...names(0, 700))
    for (const name of names(500, 1_200)) uniques.add(name)
    await exchange()
    expect(uniques.count()).toBe(countOf(names(0, 1_200)))
    expect((await redis.client.keys(`${prefix}*`)).sort()).toEqual([key, `${key}:born`])
  })

  test('sends only new items, in an argument of a few bytes', async () => {
    const prefix = redis.prefix()
    const sent: string[] = []
    const runner = scriptRunner(redis.client)
    const spy: ScriptRunner = {
      run: (script, keys, args) => {
        sent.push(String(args[3]))
        return runner.run(script, keys, args)
      },
    }
    const { uniques, exchange } = member(prefix, {}, spy)
    for (const name of names(0, 100_000)) uniques.add(name)
    await exchange(3)
    uniques.add('client 99999')
    await exchange(3)
    while (uniques.count() === countOf(names(0, 100_000))) uniques.add(`another ${sent.push('add')}`)
    sent.length = 0
    await exchange(1)
    expect(sent.length).toBe(1)
    expect([sent[0].length > 0, sent[0].length < 100]).toEqual([true, true])
  })

  test('ends with the items of all processes, despite loss, delay and duplication of requests and answers', async () => {
    const struck = new Set<string>()
    await eachSeed(15, async (random) => {
      const clock = new FakeClock()
      const prefix = redis.prefix()
      const runner = new LossyRunner(scriptRunner(redis.client), random)
      const members = [1, 2, 3].map(() => redisUniques(runner, { name: 'clients', prefix, tickMs: 300, clock }))
      const all = new RedisHyperLogLog()
      for (let step = 0; step < 60; step++) {
        for (let adds = random.whole(20); adds > 0; adds--) {
          const key = `client ${random.whole(2_000)}`
          random.pick(members).add(key)
          all.add(key)
        }
        clock.advance(random.whole(600))
        await turn()
        await runner.arrive()
      }
      runner.calm = true
      await runner.arrive()
      await ticking(
        { clock, tickMs: 300, runner },
        () => members.every((one) => one.count() === all.count()),
        'agreement',
      )
      await Promise.all(members.map((one) => one.close()))
      const stored = await registersAt(`${prefix}:{clients}:uniques`)
      expect([stored.beyond(all), all.beyond(stored)]).toEqual([undefined, undefined])
      for (const fault of Object.keys(runner.struck)) struck.add(fault)
    })
    expect(struck.size).toBe(6)
  })

  test('sends all items again if the server lost its data, even if others created the sketch again', async () => {
    const prefix = redis.prefix()
    const [one, other] = [member(prefix), member(prefix)]
    for (const name of names(0, 300)) one.uniques.add(name)
    for (const name of names(200, 600)) other.uniques.add(name)
    await one.exchange()
    await other.exchange()
    await redis.client.flushall()
    one.uniques.add('late')
    await one.exchange()
    await other.exchange()
    await one.exchange()
    expect([one.uniques.count(), other.uniques.count()]).toEqual([601, 601].map(() => countOf(names(0, 600), ['late'])))
    const missed = { name: 'sync', topic: 'clients', missed: true }
    expect([one.told, other.told]).toEqual([[missed], [missed]])
  })

  test.each(['answered before', 'answered after'])(
    'sends all items again after a reconnect, because a promoted replica may lack some: %s',
    async (order) => {
      const prefix = redis.prefix()
      const key = `${prefix}:{clients}:uniques`
      const way = new BreakingWay(scriptRunner(redis.client))
      const clock = new FakeClock()
      const uniques = redisUniques(way, { name: 'clients', prefix, tickMs: 100, clock })
      for (const name of names(0, 100)) uniques.add(name)
      clock.advance(100)
      await way.asked()
      if (order === 'answered before') await way.answer()
      // like a lagging replica
      const behind = new RedisHyperLogLog()
      for (const name of names(0, 40)) behind.add(name)
      await redis.client.set(key, Buffer.from(behind.toBytes()))
      way.back?.()
      if (order === 'answered after') await way.answer()
      way.holding = false
      await uniques.close()
      expect(await redis.client.pfcount(key)).toBe(countOf(names(0, 100)))
      expect(way.back).toBeUndefined()
    },
  )

  test('with a secret the effect of a key on the count is unpredictable, and processes that share it count together', async () => {
    const prefix = redis.prefix()
    const secret = 'a secret of the fleet'
    const [one, other] = [member(prefix, { secret }), member(prefix, { secret: Buffer.from(secret) })]
    for (const key of ['a', 'b', 7, '7', '\ud800']) {
      one.uniques.add(key)
      other.uniques.add(key)
    }
    await one.exchange()
    await other.exchange()
    expect(other.uniques.count()).toBe(5)
    await redis.client.pfadd(`${prefix}:{clients}:uniques`, 'a')
    await other.exchange()
    expect(other.uniques.count()).toBe(6)
  })

  test('reports a key with a foreign value, leaves it unchanged, and sends all items when it is gone', async () => {
    const prefix = redis.prefix()
    const key = `${prefix}:{clients}:uniques`
    const { uniques, told, exchange } = member(prefix)
    for (const [type, make] of [
      ['string', () => redis.client.set(key, 'something else')],
      ['list', () => redis.client.rpush(key, 'something else')],
    ] as const) {
      await redis.client.del(key)
      await make()
      uniques.add(type)
      await exchange()
      expect(await redis.client.type(key)).toBe(type)
      await redis.client.del(key)
      await exchange()
    }
    const failed = ['WRONGTYPE', false, 'WRONGTYPE', false].map((code) => ({ failed: code }))
    expect(told).toEqual([...failed, { missed: true }].map((data) => ({ name: 'sync', topic: 'clients', ...data })))
    expect(await redis.client.pfcount(key)).toBe(2)
    expect((await redis.client.keys(`${prefix}*`)).sort()).toEqual([key, `${key}:born`])
  })

  test('is kept for its ttl after the last process has gone', async () => {
    const prefix = redis.prefix()
    const key = `${prefix}:{clients}:uniques`
    const { uniques, exchange } = member(prefix, { ttl: '1h' })
    uniques.add('a')
    await exchange()
    const ttls = async (): Promise<number[]> => [await redis.client.pttl(key), await redis.client.pttl(`${key}:born`)]
    for (const ttl of await ttls()) expect(ttl).toBeGreaterThan(3_590_000)
    await redis.client.pexpire(key, 1_700_000)
    await redis.client.pexpire(`${key}:born`, 1_700_000)
    await exchange()
    for (const ttl of await ttls()) expect(ttl).toBeGreaterThan(3_590_000)
  })

  test('reports unsent items at close, and nothing afterwards, with no timer left', async () => {
    const prefix = redis.prefix()
    const { uniques, clock } = member(prefix)
    for (const name of names(0, 2_500)) uniques.add(name)
    await uniques.close()
    uniques.add('too late')
    await uniques.close()
    clock.advance(10_000)
    await turn()
    expect(await redis.client.pfcount(`${prefix}:{clients}:uniques`)).toBe(countOf(names(0, 2_500)))
    expect(clock.pending).toBe(0)
  })

  test('closes after closeMs if the runner does not answer, and sends nothing later', async () => {
    let calls = 0
    const silent: ScriptRunner = {
      run: () => {
        calls++
        return new Promise(() => {})
      },
    }
    const { uniques, clock, told } = member(redis.prefix(), { closeMs: 500 }, silent)
    uniques.add('a')
    clock.advance(100)
    const end = uniques.close()
    await turn()
    clock.advance(500)
    await end
    await turn()
    clock.advance(10_000)
    await turn()
    expect([calls, clock.pending]).toEqual([1, 0])
    expect(told).toEqual([{ name: 'sync', topic: 'clients', failed: 'LATE' }])
  })

  test('does not fail if the runner throws, rejects or returns nothing', async () => {
    const ways: ScriptRunner[] = [
      {
        run: () => {
          throw new Error('thrown')
        },
      },
      { run: () => Promise.reject(undefined) },
      { run: async () => null },
    ]
    for (const way of ways) {
      for (const window of [undefined, '1h'] as const) {
        const { uniques, exchange } = member(redis.prefix(), { window }, way)
        uniques.add('a')
        await exchange(3)
        expect(uniques.count()).toBe(1)
        await uniques.close()
      }
    }
  })

  test('rejects invalid options', () => {
    const bad = (options: object, code: string): void => {
      const build = (): unknown => redisUniques(redis.client, { name: 'clients', ...options })
      expect(build).toThrow(expect.objectContaining({ code }))
      expect(build).toThrow(/expected .+, received ./)
    }
    for (const name of ['', 'ä', '{a}', undefined]) bad({ name }, 'SLUICE_BAD_MESSAGE')
    for (const window of [60, '1x', null, Number.NaN]) bad({ window }, 'SLUICE_BAD_DURATION')
    for (const ttl of [60, '0ms']) bad({ ttl }, 'SLUICE_BAD_DURATION')
    bad({ window: '1d', ttl: '1d' }, 'SLUICE_BAD_OPTION')
    bad({ windows: '1d' }, 'SLUICE_BAD_OPTION')
    for (const secret of ['short', 7, null]) bad({ secret }, 'SLUICE_BAD_SEED')
  })
})
