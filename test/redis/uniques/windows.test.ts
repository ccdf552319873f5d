import { describe, expect, test } from '@jest/globals'
import type { ScriptRunner } from '@sluice/limiter-core'
import { scriptRunner } from '@sluice/redis'
import { ownRedis } from '../channel/own-redis.ts'
import { names, uniquesMembers } from './uniques-member.ts'

const redis = ownRedis()
const member = uniquesMembers(redis)
const HOUR_MS = 3_600_000

async function hourOfServer(): Promise<number> {
  const [seconds] = await redis.client.time()
  return Math.floor((Number(seconds) * 1_000) / HOUR_MS)
}

describe('redisUniques with a window', () => {
  test('counts in the current window of the server, under its number, until the next one', async () => {
    const prefix = redis.prefix()
    const { uniques, exchange } = member(prefix, { window: '1h' })
    expect(uniques.key).toBeUndefined()
    for (const name of names(0, 50)) uniques.add(name)
    const before = await hourOfServer()
    await exchange(4)
    const hour = Number(uniques.key?.split(':').at(-1))
    expect([before, before + 1]).toContain(hour)
    expect(uniques.key).toBe(`${prefix}:{clients}:uniques:${hour}`)
    const key = uniques.key as string
    expect(await redis.client.pfcount(key)).toBe(50)
    expect(await redis.client.call('PEXPIRETIME', key)).toBe((hour + 2) * HOUR_MS)
    expect(await redis.client.call('PEXPIRETIME', `${key}:born`)).toBe((hour + 2) * HOUR_MS)
  })

  test('starts empty with each window, and sends pending items to the previous one', async () => {
    const prefix = redis.prefix()
    const { uniques, clock, exchange } = member(prefix, { window: '1h' })
    for (const name of names(0, 50)) uniques.add(name)
    await exchange(4)
    const first = uniques.key as string
    for (const name of names(50, 80)) uniques.add(name)
    clock.advance(HOUR_MS)
    for (const name of names(0, 20)) uniques.add(name)
    await exchange(4)
    expect(uniques.key).not.toBe(first)
    expect(await redis.client.pfcount(first)).toBe(80)
    expect(await redis.client.pfcount(uniques.key as string)).toBe(20)
    expect(uniques.count()).toBe(20)
  })

  test('keeps the window of each key through an outage, and reports items whose window is gone', async () => {
    const prefix = redis.prefix()
    const runner = scriptRunner(redis.client)
    let cut = false
    const way: ScriptRunner = {
      run: (...call) =>
        cut ? Promise.reject(Object.assign(new Error('cut'), { code: 'CONNECTION' })) : runner.run(...call),
    }
    const { uniques, clock, told, exchange } = member(prefix, { window: '1h' }, way)
    uniques.add('first')
    await exchange(4)
    const hour = Number(uniques.key?.split(':').at(-1))
    const countAt = (at: number): Promise<number> => redis.client.pfcount(`${prefix}:{clients}:uniques:${at}`)
    cut = true
    for (const name of names(0, 10)) uniques.add(name)
    await exchange(4)
    clock.advance(HOUR_MS)
    for (const name of names(0, 20)) uniques.add(name)
    clock.advance(HOUR_MS)
    for (const name of names(0, 5)) uniques.add(name)
    await exchange(4)
    cut = false
    await exchange(4)
    expect(await Promise.all([hour, hour + 1, hour + 2].map(countAt))).toEqual([1, 20, 5])
    expect(told).toEqual([
      { name: 'sync', topic: 'clients', failed: 'CONNECTION' },
      { name: 'sync', topic: 'clients', dropped: 10 },
      { name: 'sync', topic: 'clients', failed: false },
    ])
  })

  test('reports unsent items if more than one window passed unnoticed', async () => {
    const runner = scriptRunner(redis.client)
    let aheadMs = 0
    const way: ScriptRunner = {
      run: async (...call) => {
        const answer = (await runner.run(...call)) as unknown[]
        return call[0].name === 'merge-uniques' ? [answer[0], answer[1], Number(answer[2]) + aheadMs] : answer
      },
    }
    const { uniques, told, exchange } = member(redis.prefix(), { window: '1h' }, way)
    uniques.add('a')
    await exchange(4)
    const hour = Number(uniques.key?.split(':').at(-1))
    aheadMs = 2 * HOUR_MS
    await exchange(1)
    for (const name of names(0, 10)) uniques.add(name)
    await exchange(4)
    expect(told).toEqual([{ name: 'sync', topic: 'clients', dropped: 10 }])
    expect(Number(uniques.key?.split(':').at(-1))).toBe(hour + 2)
  })

  test('does not count in an earlier window if the clock of the process is ahead', async () => {
    const prefix = redis.prefix()
    const { uniques, clock, exchange } = member(prefix, { window: '1h' })
    uniques.add('a')
    await exchange(4)
    const first = Number(uniques.key?.split(':').at(-1))
    clock.advance(HOUR_MS)
    await exchange(5)
    expect(Number(uniques.key?.split(':').at(-1))).toBe(first + 1)
    expect(uniques.count()).toBe(0)
  })
})
