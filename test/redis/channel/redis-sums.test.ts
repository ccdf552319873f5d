import { describe, expect, test } from '@jest/globals'
import type { Observer, ScriptRunner } from '@sluice/limiter-core'
import { type RedisSums, type RedisSumsOptions, redisSums, scriptRunner } from '@sluice/redis'
import { FakeClock, seededRandom } from '@sluice/testkit'
import { endedAfterEach } from '../../services/for-tests.ts'
import { LossyRunner } from './lossy-runner.ts'
import { ownRedis } from './own-redis.ts'
import { ticking, turn } from './ticking.ts'

const redis = ownRedis()
const tickMs = 100
const made = endedAfterEach<RedisSums>((sums) => sums.close())

function member(prefix: string, options: Partial<RedisSumsOptions> = {}, through?: ScriptRunner) {
  const clock = new FakeClock()
  const runner = new LossyRunner(through ?? scriptRunner(redis.client), seededRandom(1))
  runner.calm = true
  const told: unknown[] = []
  const observer: Observer = { event: (name, data) => told.push({ name, ...data }) }
  const sums = redisSums(runner, { name: 'hits', prefix, tickMs, clock, observers: [observer], ...options })
  made.push(sums)
  let ticks = 0
  const exchange = (): Promise<void> => {
    ticks = 0
    return ticking({ clock, tickMs, runner }, () => ticks++ === 2, 'two ticks')
  }
  return { sums, clock, told, exchange }
}

describe('redisSums', () => {
  test('sees its own additions at once, and the additions of others a tick later', async () => {
    const prefix = redis.prefix()
    const [one, other] = [member(prefix), member(prefix)]
    one.sums.add('a', 5)
    one.sums.add('a')
    other.sums.add('a', -2)
    expect([one.sums.get('a'), other.sums.get('a'), one.sums.get('b')]).toEqual([6, -2, 0])
    await one.exchange()
    await other.exchange()
    await one.exchange()
    expect([one.sums.get('a'), other.sums.get('a')]).toEqual([4, 4])
  })

  test('never reports less than it added, while additions are sent, acknowledged or contained in several answers', async () => {
    const prefix = redis.prefix()
    const [one, other] = [member(prefix), member(prefix)]
    const cells = Array.from({ length: 5_000 }, (_, at) => `cell ${at}`)
    for (const name of cells) other.sums.add(name, 2)
    await other.exchange()
    for (const name of cells) one.sums.add(name, 1)
    const own = (): boolean => cells.every((name) => one.sums.get(name) >= 1)
    for (let turns = 0; turns < 200; turns++) {
      if (turns % 20 === 0) one.clock.advance(tickMs)
      await turn()
      expect(own()).toBe(true)
    }
    await one.exchange()
    expect(cells.every((name) => one.sums.get(name) === 3)).toBe(true)
  })

  test('receives only sums that changed', async () => {
    const prefix = redis.prefix()
    const replies: unknown[][] = []
    const runner = scriptRunner(redis.client)
    const spy: ScriptRunner = {
      async run(...call) {
        const reply = (await runner.run(...call)) as unknown[]
        replies.push(reply.slice(5).filter((_, at) => at % 3 < 2))
        return reply
      },
    }
    const [one, other] = [member(prefix), member(prefix, {}, spy)]
    for (const name of ['a', 'b', 'c']) one.sums.add(name, 1)
    await one.exchange()
    await other.exchange()
    one.sums.add('b', 1)
    await one.exchange()
    await other.exchange()
    await other.exchange()
    expect(replies.filter((news) => news.length > 0)).toEqual([
      ['a', '1', 'b', '1', 'c', '1'],
      ['b', '2'],
    ])
  })

  test('stores a limited number of sums while it cannot send, and reports dropped ones', async () => {
    const prefix = redis.prefix()
    const way: ScriptRunner = { run: () => Promise.reject(new Error('cut')) }
    const { sums, told, exchange } = member(prefix, { maxUnsent: 2 }, way)
    for (const name of ['a', 'b', 'c', 'a']) sums.add(name)
    await exchange()
    expect([sums.get('a'), sums.get('b'), sums.get('c')]).toEqual([2, 1, 0])
    expect(told[0]).toEqual({ name: 'sync', topic: 'hits', dropped: 1 })
  })

  test('continues with unsent additions after the server lost its data', async () => {
    const prefix = redis.prefix()
    const { sums, told, exchange } = member(prefix)
    sums.add('a', 5)
    sums.add('b', 1)
    await exchange()
    await redis.client.flushall()
    sums.add('a', 2)
    await exchange()
    expect([sums.get('a'), sums.get('b')]).toEqual([2, 0])
    expect(told).toEqual([{ name: 'sync', topic: 'hits', missed: true }])
  })

  test('reads all sums again after the failover to a lagging replica', async () => {
    const prefix = redis.prefix()
    const [one, other] = [member(prefix), member(prefix)]
    one.sums.add('a', 1)
    await one.exchange()
    const version = (await redis.client.hget(`${prefix}:{hits}:sums`, 'version')) as string
    one.sums.add('a', 1)
    await one.exchange()
    await other.exchange()
    expect(other.sums.get('a')).toBe(2)
    // like a replica that lags one batch behind
    await redis.client.hset(`${prefix}:{hits}:sums`, 'version', version)
    await redis.client.hset(`${prefix}:{hits}:values`, 'a', '1')
    await redis.client.zadd(`${prefix}:{hits}:versions`, version, 'a')
    await other.exchange()
    expect(other.sums.get('a')).toBe(1)
    expect(other.told).toEqual([{ name: 'sync', topic: 'hits', missed: true }])
    one.sums.add('a', 5)
    await one.exchange()
    await other.exchange()
    expect([one.sums.get('a'), other.sums.get('a')]).toEqual([6, 6])
  })

  test('reports unsent additions at close, however many, and accepts none afterwards', async () => {
    const prefix = redis.prefix()
    const { sums } = member(prefix)
    for (let at = 0; at < 2_500; at++) sums.add(`cell ${at}`)
    await sums.close()
    sums.add('cell 0')
    await sums.close()
    expect(await redis.client.hlen(`${prefix}:{hits}:values`)).toBe(2_500)
    expect(await redis.client.hget(`${prefix}:{hits}:values`, 'cell 0')).toBe('1')
  })

  test('leaves a sum unchanged that would overflow, and counts the others', async () => {
    const prefix = redis.prefix()
    const { sums, exchange } = member(prefix)
    sums.add('a')
    await exchange()
    await redis.client.hset(`${prefix}:{hits}:values`, 'a', '9223372036854775807')
    sums.add('a')
    sums.add('b')
    await exchange()
    expect(await redis.client.hgetall(`${prefix}:{hits}:values`)).toEqual({ a: '9223372036854775807', b: '1' })
  })

  test('rejects invalid names, amounts and options', () => {
    const { sums } = member(redis.prefix())
    const bad = (build: () => unknown, code: string): void => {
      expect(build).toThrow(expect.objectContaining({ code }))
      expect(build).toThrow(/expected .+, received ./)
    }
    for (const amount of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '1']) {
      bad(() => sums.add('a', amount as number), 'SLUICE_BAD_MESSAGE')
    }
    sums.add('a', 2 ** 53 - 1)
    bad(() => sums.add('a', 1), 'SLUICE_BAD_MESSAGE')
    for (const name of ['', 'ä', '{a}', undefined]) bad(() => sums.add(name as string), 'SLUICE_BAD_MESSAGE')
    bad(() => redisSums(redis.client, { name: 'a', maxUnsent: 0 }), 'SLUICE_BAD_OPTION')
    bad(() => redisSums(redis.client, { name: 'a', retainMs: 5 } as never), 'SLUICE_BAD_OPTION')
    bad(() => redisSums(redis.client, {} as never), 'SLUICE_BAD_MESSAGE')
  })
})
