import { randomUUID } from 'node:crypto'
import { expect, jest, test } from '@jest/globals'
import { redisChannel, redisSums, scriptRunner } from '@sluice/redis'
import { redisUniques } from '@sluice/redis/uniques'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { turn, watchedRedis } from './watched-redis.ts'
import { WrongRunner } from './wrong-runner.ts'

const RUNS = 12
const TICK_MS = 100

jest.setTimeout(300_000)

const redis = watchedRedis()

/** A process whose clock advances only while Redis owes no reply. */
class Site {
  readonly clock = new FakeClock()
  readonly runner: WrongRunner

  constructor(random: SeededRandom) {
    this.runner = new WrongRunner({ runner: scriptRunner(redis.client), random, clock: this.clock, lateMs: 1_500 })
  }

  async passes(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += TICK_MS) {
      this.clock.advance(TICK_MS)
      do await turn()
      while (this.runner.underWay > 0)
    }
  }
}

const settings = (site: Site, prefix: string) => ({ prefix, tickMs: TICK_MS, clock: site.clock })

test('a channel delivers each message once and in order after Redis gave wrong replies', async () => {
  await eachSeed(RUNS, async (random) => {
    const prefix = randomUUID()
    const [from, to] = [new Site(random), new Site(random)]
    const [sender, receiver] = [from, to].map((site) => redisChannel(site.runner, settings(site, prefix)))
    const heard: string[] = []
    receiver.subscribe('news', (bytes) => heard.push(Buffer.from(bytes).toString()))
    for (const { runner } of [from, to]) runner.share = random.pick([0.3, 0.7, 1])
    for (let n = 0; n < 40; n++) {
      sender.publish('news', Buffer.from(`early ${n}`))
      await Promise.all([from, to].map((site) => site.passes(TICK_MS * (1 + random.whole(4)))))
    }
    for (const { runner } of [from, to]) runner.share = 0
    // replies that are under way count as lost after a second
    await Promise.all([from, to].map((site) => site.passes(3_000)))
    const late = Array.from({ length: 20 }, (_, n) => `late ${n}`)
    for (const text of late) {
      sender.publish('news', Buffer.from(text))
      await from.passes(TICK_MS)
      await to.passes(TICK_MS)
    }
    await from.passes(1_000)
    await to.passes(1_000)
    expect(heard.filter((text) => text.startsWith('late'))).toEqual(late)
    await closed([sender, receiver], [from, to])
  })
  expect(redis.lost).toEqual([])
})

test('sums contain each amount once after Redis gave wrong replies', async () => {
  await eachSeed(RUNS, async (random) => {
    const prefix = randomUUID()
    const sites = [new Site(random), new Site(random)]
    const sums = sites.map((site) => redisSums(site.runner, { ...settings(site, prefix), name: 'cells' }))
    const names = ['a', 'b', 'c']
    const totals = new Map(names.map((name) => [name, 0]))
    const add = (name: string, amount: number): void => {
      random.pick(sums).add(name, amount)
      totals.set(name, (totals.get(name) ?? 0) + amount)
    }
    for (const { runner } of sites) runner.share = random.pick([0.3, 0.7, 1])
    for (let n = 0; n < 40; n++) {
      add(random.pick(names), 1 + random.whole(9))
      await Promise.all(sites.map((site) => site.passes(TICK_MS * (1 + random.whole(4)))))
      for (const one of sums) expect(names.map((name) => one.get(name)).filter(Number.isNaN)).toEqual([])
    }
    for (const { runner } of sites) runner.share = 0
    await Promise.all(sites.map((site) => site.passes(3_000)))
    // a wrong number of the right form remains until the sum changes
    for (const name of names) add(name, 1)
    for (let n = 0; n < 10; n++) for (const site of sites) await site.passes(TICK_MS)
    for (const one of sums) expect(names.map((name) => one.get(name))).toEqual([...totals.values()])
    await closed(sums, sites)
  })
  expect(redis.lost).toEqual([])
})

test.each([undefined, '1h'] as const)(
  'unique keys with the window %s are counted after wrong replies',
  async (window) => {
    await eachSeed(RUNS, async (random) => {
      const prefix = randomUUID()
      const sites = [new Site(random), new Site(random)]
      const uniques = sites.map((site) =>
        redisUniques(site.runner, { ...settings(site, prefix), name: 'keys', window }),
      )
      for (const { runner } of sites) runner.share = random.pick([0.3, 0.7, 1])
      for (let n = 0; n < 40; n++) {
        random.pick(uniques).add(`key ${n}`)
        await Promise.all(sites.map((site) => site.passes(TICK_MS * (1 + random.whole(4)))))
        for (const one of uniques) expect(Number.isSafeInteger(one.count())).toBe(true)
      }
      for (const { runner } of sites) runner.share = 0
      await Promise.all(sites.map((site) => site.passes(3_000)))
      for (const one of uniques) one.add('last')
      for (let n = 0; n < 10; n++) for (const site of sites) await site.passes(TICK_MS)
      for (const one of uniques) expect(Math.abs(one.count() - 41)).toBeLessThanOrEqual(1)
      await closed(uniques, sites)
    })
    expect(redis.lost).toEqual([])
  },
)

async function closed(all: readonly { close(): Promise<void> }[], sites: readonly Site[]): Promise<void> {
  const ends = all.map((one) => one.close())
  await Promise.all(sites.map((site) => site.passes(2_000)))
  await Promise.all(ends)
  expect(sites.map(({ clock }) => clock.pending)).toEqual(sites.map(() => 0))
}
