import { describe, expect, test } from '@jest/globals'
import { type RedisSums, type RedisSumsOptions, redisChannel, redisSums, scriptRunner } from '@sluice/redis'
import { FakeClock, seededRandom } from '@sluice/testkit'
import { LossyRunner } from '../../redis/channel/lossy-runner.ts'
import { ownRedis } from '../../redis/channel/own-redis.ts'
import { ticking } from '../../redis/channel/ticking.ts'
import { eventually } from '../../services/eventually.ts'
import { endedAfterEach } from '../../services/for-tests.ts'

const DAY_MICROS = 86_400_000_000
const tickMs = 100

const redis = ownRedis()
const made = endedAfterEach<{ close(): Promise<void> }>((one) => one.close())

function member(prefix: string, options: Partial<RedisSumsOptions> = {}) {
  const clock = new FakeClock()
  const runner = new LossyRunner(scriptRunner(redis.client), seededRandom(1))
  runner.calm = true
  const told: unknown[] = []
  const observers = [{ event: (name: string) => told.push(name) }]
  const sums: RedisSums = redisSums(runner, { name: 'hits', prefix, tickMs, clock, observers, ...options })
  made.push(sums)
  const exchange = (ticks = 2): Promise<void> => {
    let left = ticks
    return ticking({ clock, tickMs, runner }, () => left-- === 0, 'ticks')
  }
  return { sums, told, exchange }
}

/** Makes the sums look as if they had last changed this much earlier. */
async function aged(prefix: string, names: readonly string[], micros: number): Promise<void> {
  const key = `${prefix}:{hits}:versions`
  const scores = await redis.client.zmscore(key, ...names)
  const members = names.flatMap((name, at) => [Number(scores[at]) - micros, name])
  await redis.client.zadd(key, ...members)
}

const stored = (prefix: string): Promise<Record<string, string>> => redis.client.hgetall(`${prefix}:{hits}:values`)

describe('a sum without additions for a day', () => {
  test('is removed by Redis and all processes, while others stay', async () => {
    const prefix = redis.prefix()
    const before = member(prefix)
    for (const name of ['old', 'older', 'kept']) before.sums.add(name, 5)
    await before.exchange()
    await aged(prefix, ['older', 'old'], DAY_MICROS - 1_000_000)
    const [one, other] = [member(prefix), member(prefix)]
    await one.exchange()
    await other.exchange()
    const seen = ({ sums }: typeof one): number[] => ['old', 'older'].map((name) => sums.get(name))
    const forgotten = async (): Promise<boolean> => {
      one.sums.add('kept', 1)
      await one.exchange()
      await other.exchange()
      return seen(one).every((sum) => sum === 0)
    }
    await eventually(forgotten, { what: 'the end of a day' })
    expect([seen(one), seen(other)]).toEqual([
      [0, 0],
      [0, 0],
    ])
    expect(Object.keys(await stored(prefix))).toEqual(['kept'])
    expect(one.sums.get('kept')).toBeGreaterThan(5)
    expect(other.sums.get('kept')).toBe(one.sums.get('kept'))
    expect([...one.told, ...other.told]).toEqual([])
  })

  test('starts at zero again, even if more sums have expired than are removed at a time', async () => {
    const prefix = redis.prefix()
    const one = member(prefix)
    const names = Array.from({ length: 2_500 }, (_, at) => `name ${at}`)
    for (const name of names) one.sums.add(name, 5)
    await one.exchange(4)
    await aged(prefix, names, DAY_MICROS)
    one.sums.add('name 2499', 1)
    one.sums.add('new', 1)
    await one.exchange()
    expect(await stored(prefix)).toMatchObject({ 'name 2499': '1', new: '1' })
    expect(await redis.client.hlen(`${prefix}:{hits}:values`)).toBe(2_500 - 1_000 + 1)
    const late = member(prefix)
    await late.exchange(4)
    expect(['name 2498', 'name 2499', 'new'].map((name) => late.sums.get(name))).toEqual([0, 1, 1])
    for (let batch = 0; batch < 2; batch++) {
      one.sums.add('new', 1)
      await one.exchange()
    }
    expect(await stored(prefix)).toEqual({ 'name 2499': '1', new: '3' })
  })
})

describe('more sums than the limit', () => {
  test('cause the removal of the sums without additions for the longest time, in all processes', async () => {
    const prefix = redis.prefix()
    const [one, other] = [member(prefix, { maxSums: 3 }), member(prefix, { maxSums: 3 })]
    for (const name of ['a', 'b', 'c']) {
      one.sums.add(name, 1)
      await one.exchange()
    }
    await other.exchange()
    one.sums.add('a', 1)
    one.sums.add('d', 1)
    await one.exchange()
    await other.exchange()
    expect(await stored(prefix)).toEqual({ c: '1', a: '2', d: '1' })
    for (const { sums } of [one, other])
      expect(['a', 'b', 'c', 'd'].map((name) => sums.get(name))).toEqual([2, 0, 1, 1])
  })

  test('do not fill Redis', async () => {
    const prefix = redis.prefix()
    const one = member(prefix, { maxSums: 100 })
    for (let name = 0; name < 5_000; name++) one.sums.add(`name ${name}`, 1)
    await one.exchange(6)
    one.sums.add('last', 1)
    await one.exchange()
    expect(await redis.client.hlen(`${prefix}:{hits}:values`)).toBe(100)
    expect(await redis.client.zcard(`${prefix}:{hits}:versions`)).toBe(100)
  })

  test('require a valid limit', () => {
    const bad = expect.objectContaining({ code: 'SLUICE_BAD_OPTION' })
    for (const maxSums of [0, 1.5, Number.NaN]) {
      expect(() => redisSums(redis.client, { name: 'hits', maxSums })).toThrow(bad)
    }
  })
})

describe('the state of a process in Redis', () => {
  const leftMs = async (prefix: string): Promise<number> => {
    const [key] = await redis.client.keys(`${prefix}:*:writer:*`)
    return redis.client.pttl(key as string)
  }

  test('expires an hour after a crash', async () => {
    const prefix = redis.prefix()
    const one = member(prefix)
    one.sums.add('a')
    await one.exchange()
    expect(await leftMs(prefix)).toBeGreaterThan(3_590_000)
    expect(await leftMs(prefix)).toBeLessThanOrEqual(3_600_000)
  })

  test('expires a minute after it closed, for sums and channels', async () => {
    const prefix = redis.prefix()
    const one = member(prefix)
    one.sums.add('a')
    await one.sums.close()
    await eventually(async () => (await leftMs(prefix)) <= 60_000, { what: 'the end of a writer of sums' })
    const channels = redis.prefix()
    const channel = redisChannel(redis.client, { prefix: channels })
    channel.publish('news', Buffer.from('x'))
    await channel.close()
    await eventually(async () => (await leftMs(channels)) <= 60_000, { what: 'the end of a writer of a channel' })
  })
})
