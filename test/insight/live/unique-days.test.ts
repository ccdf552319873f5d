import { describe, expect, it } from '@jest/globals'
import { createInsight, type Insight, type InsightOptions, type UniqueStore } from '@sluice/insight'
import type { ScriptRunner } from '@sluice/limiter-core'
import { redisUniqueStore, scriptRunner } from '@sluice/redis'
import { baseSeed, eachSeed, FakeClock, seededRandom } from '@sluice/testkit'
import { LossyRunner } from '../../redis/channel/lossy-runner.ts'
import { ownRedis } from '../../redis/channel/own-redis.ts'
import { turn } from '../../redis/channel/ticking.ts'
import { eventually } from '../../services/eventually.ts'
import { endedAfterEach } from '../../services/for-tests.ts'
import { decisionOf, requestOf } from './observed.ts'

const SECRET = 'a secret of all processes'
const DAY_MS = 86_400_000
const NOON = Date.UTC(2026, 2, 10, 12)
const redis = ownRedis()

/**
 * A process that keeps days, with a separate clock and a separate connection to Redis, which fails at random if a seed
 * is given.
 */
class Member {
  readonly clock: FakeClock
  readonly insight: Insight
  readonly #runner: LossyRunner
  #calls = 0

  constructor(prefix: string, wallMs: number, unique: InsightOptions['unique'] = {}, seed?: number) {
    this.clock = new FakeClock({ wallMs })
    this.#runner = new LossyRunner(scriptRunner(redis.client), seededRandom(seed ?? 0))
    this.#runner.calm = seed === undefined
    const run: ScriptRunner['run'] = (script, keys, args) => {
      this.#calls++
      return this.#runner.run(script, keys, args)
    }
    const store = redisUniqueStore({ run }, { prefix })
    this.insight = createInsight({ clock: this.clock, secret: SECRET, unique: { store, ...unique } })
    open.push(this)
  }

  close(): Promise<void> {
    this.#runner.calm = true
    return this.insight.close()
  }

  see(from: number, to: number, route = '/'): void {
    for (let key = from; key < to; key++) {
      const { request, end } = requestOf(route)
      this.insight.decided(`key ${key}`, decisionOf(), request)
      end()
    }
  }

  /** Advances the clock by minutes, and waits until all calls of each minute are answered or have timed out. */
  async pass(minutes = 1): Promise<void> {
    for (let second = 0; second < 60 * minutes; second++) {
      this.clock.advance(1_000)
      await this.#runner.arrive()
      let before = -1
      while (before !== this.#calls) {
        before = this.#calls
        await this.#runner.settled()
        for (let turns = 0; turns < 3; turns++) await turn()
      }
    }
  }

  days(): [string, number][] {
    return this.insight.snapshot().uniques.days?.map(({ date, count }) => [date, count]) ?? []
  }
}

const open = endedAfterEach<Member>((member) => member.close())

/** Returns the count of one process that observed all the given keys in a day. */
function countOf(...ranges: readonly (readonly [from: number, to: number])[]): number {
  const insight = createInsight({ clock: new FakeClock({ wallMs: NOON }), secret: SECRET })
  for (const [from, to] of ranges) for (let key = from; key < to; key++) insight.decided(`key ${key}`, decisionOf())
  const { day } = insight.snapshot().uniques
  void insight.close()
  return day
}

describe('days of unique keys in Redis', () => {
  it('equal the count of a single process, over several processes, restarts, and lost, late and duplicated calls', () =>
    eachSeed(2, async (random) => {
      const prefix = redis.prefix()
      const ranges = Array.from({ length: 6 }, () => {
        const from = random.whole(3_000)
        return [from, from + random.whole(800)] as const
      })
      let members = [0, 1, 2].map(() => new Member(prefix, NOON, {}, random.whole(1_000)))
      for (const [at, [from, to]] of ranges.entries()) {
        members[at % 3].see(from, to)
        for (const member of members) await member.pass()
        // a process is killed, and a new one starts without data
        const [, ...others] = members
        members = [...others, new Member(prefix, NOON, {}, random.whole(1_000))]
      }
      const last = new Member(prefix, NOON)
      await last.pass()
      expect(last.days()).toEqual([['2026-03-10', countOf(...ranges)]])
      // Redis stores a sketch of the keys, but no key
      const [key] = await redis.client.keys(`${prefix}*`)
      expect(JSON.stringify(await redis.client.hgetall(key))).not.toContain('key 1')
    }))

  it('are kept for 31 days, by route if configured, and expire in Redis', async () => {
    const prefix = redis.prefix()
    const days = 31
    for (let day = 0; day < 33; day++) {
      const member = new Member(prefix, NOON + day * DAY_MS, { per: 'route', days })
      member.see(0, 10 + day, '/orders/:id')
      member.see(0, 3, '/')
      await member.pass()
      await member.close()
    }
    const member = new Member(prefix, NOON + 32 * DAY_MS, { per: 'route' })
    await member.pass()
    const { days: kept = [] } = member.insight.snapshot().uniques
    expect(kept.map(({ date }) => date).slice(0, 2)).toEqual(['2026-03-12', '2026-03-13'])
    expect(kept).toHaveLength(31)
    expect(kept.at(-1)).toEqual({
      date: '2026-04-11',
      count: countOf([0, 42]),
      byRoute: [
        { method: 'GET', route: '/orders/:id', count: expect.any(Number) },
        { method: 'GET', route: '/', count: 3 },
      ],
    })
    for (const key of await redis.client.keys(`${prefix}*`)) {
      const left = await redis.client.pttl(key)
      expect([left > 31 * DAY_MS, left <= 32 * DAY_MS]).toEqual([true, true])
    }
    expect(await redis.client.keys(`${prefix}*`)).toHaveLength(33)
  })

  it('include keys up to midnight in the day that ended', async () => {
    const prefix = redis.prefix()
    const member = new Member(prefix, NOON + DAY_MS / 2 - 90_000)
    member.see(0, 100)
    await member.pass()
    // after the last exchange of the day
    member.clock.advance(20_000)
    member.see(100, 150)
    await member.pass()
    member.see(0, 7)
    await member.pass(2)
    expect(member.days()).toEqual([
      ['2026-03-10', countOf([0, 150])],
      ['2026-03-11', 7],
    ])
    const other = new Member(prefix, NOON + DAY_MS / 2 + 120_000)
    await other.pass()
    expect(other.days()).toEqual(member.days())
  })

  it('keep the current day during a Redis outage, and when Redis restarts empty', async () => {
    const prefix = redis.prefix()
    const member = new Member(prefix, NOON)
    member.see(0, 50)
    await member.pass()
    await redis.server.kill()
    member.see(50, 120)
    await member.pass(2)
    expect(member.days()).toEqual([['2026-03-10', countOf([0, 120])]])
    const failed = member.insight.snapshot().events.filter(({ name }) => name === 'sync')
    expect(failed).toEqual([expect.objectContaining({ text: expect.stringContaining('topic=uniques failed=') })])
    await redis.server.restart({ empty: true })
    await eventually(async () => redis.client.status === 'ready', { what: 'a connection' })
    await member.pass()
    const other = new Member(prefix, NOON)
    await other.pass()
    expect(other.days()).toEqual(member.days())
    expect(member.insight.snapshot().events[0].text).toContain('failed=false')
  })

  it('with another secret or topic are separate', async () => {
    const prefix = redis.prefix()
    const store = redisUniqueStore(redis.client, { prefix })
    const made = [{ secret: SECRET }, { secret: `${SECRET}!` }, { secret: SECRET, topic: 'other' }].map((options) =>
      createInsight({ clock: new FakeClock({ wallMs: NOON }), unique: { store }, ...options }),
    )
    for (const insight of made) {
      insight.decided('key', decisionOf())
      await insight.close()
    }
    expect(await redis.client.keys(`${prefix}*`)).toHaveLength(3)
  })

  it('use at most 256 names per day in Redis, whatever processes send', async () => {
    const prefix = redis.prefix()
    const store: UniqueStore = redisUniqueStore(redis.client, { prefix })
    const entries = Array.from({ length: 300 }, (_, at) => ({ name: `GET /${at}`, registers: '0'.repeat(256) }))
    const merged = await store.merge('day', entries, 60_000)
    expect(merged).toHaveLength(300)
    expect(await store.read('day')).toHaveLength(256)
  })

  it('merge registers by maximum, and repeated merges change nothing', async () => {
    const store = redisUniqueStore(redis.client, { prefix: redis.prefix() })
    const random = seededRandom(baseSeed())
    const text = (): string => Array.from({ length: 4_096 }, () => random.pick([...'0123abc'])).join('')
    const [a, b] = [text(), text()]
    const larger = [...a].map((character, at) => [character, b[at]].sort()[1]).join('')
    expect(await store.merge('day', [{ name: '', registers: a }], 60_000)).toEqual([a])
    expect(await store.merge('day', [{ name: '', registers: b }], 60_000)).toEqual([larger])
    expect(await store.merge('day', [{ name: '', registers: a }], 60_000)).toEqual([larger])
    expect(await store.read('day')).toEqual([{ name: '', registers: larger }])
    expect(await store.read('another')).toEqual([])
  })
})

describe('the store of unique days', () => {
  it('does not block anything if it hangs, throws or returns nonsense', async () => {
    const nonsense = { name: '', registers: '~'.repeat(4_096) }
    const stores: UniqueStore[] = [
      { merge: () => new Promise(() => {}), read: () => new Promise(() => {}) },
      {
        merge: () => {
          throw new Error('thrown')
        },
        read: async () => [],
      },
      { merge: async (_day, entries) => entries.map(() => '?'), read: async () => [nonsense] },
      { merge: async () => undefined as never, read: async () => undefined as never },
    ]
    for (const store of stores) {
      const clock = new FakeClock({ wallMs: NOON })
      const insight = createInsight({ clock, secret: SECRET, unique: { store } })
      insight.decided('key', decisionOf())
      for (let second = 0; second < 100; second++) {
        clock.advance(1_000)
        await turn()
      }
      expect(insight.snapshot().uniques).toMatchObject({ day: 1, days: [{ date: '2026-03-10', count: 1 }] })
      expect(insight.snapshot().events.map(({ text }) => text)).toContainEqual(expect.stringMatching(/^topic=uniques /))
      const closed = insight.close()
      clock.advance(2_000)
      await closed
    }
  })

  it.each<readonly [string, InsightOptions['unique'], string | undefined]>([
    ['without a secret', { store: redisUniqueStore({ run: async () => [] }) }, undefined],
    ['that is invalid', { store: {} as UniqueStore }, SECRET],
    ['with 0 days', { store: redisUniqueStore({ run: async () => [] }), days: 0 }, SECRET],
    ['with more days than the maximum', { store: redisUniqueStore({ run: async () => [] }), days: 32 }, SECRET],
    ['that is missing although days are configured', { days: 7 }, SECRET],
  ])('%s is rejected at start-up with an error code', (_what, unique, secret) => {
    expect(() => createInsight({ unique, secret })).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
  })
})
