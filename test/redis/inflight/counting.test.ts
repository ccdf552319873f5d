import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createInflightLimiter, type InflightBackend, type Permit } from '@sluice/limiter-core'
import { redisInflight } from '@sluice/redis'
import { hostileKeys } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { eventually, Fleet } from './fleet.ts'

// these tests check counts, and a busy machine must not make a process count locally
const PATIENT_MS = 3_000

let server: RedisServer
let fleet: Fleet
let admin: Redis
let a: InflightBackend
let b: InflightBackend

beforeAll(async () => {
  server = await startRedis()
  fleet = new Fleet(server.port)
  admin = await fleet.client()
  a = await fleet.member({ deadlineMs: PATIENT_MS })
  b = await fleet.member({ deadlineMs: PATIENT_MS })
})

afterAll(async () => {
  await fleet.close()
  await server.stop()
})

const capOf = (backend: InflightBackend, name: string, limit: number) =>
  createInflightLimiter({ name, limit, backend, shared: true })

describe('two processes', () => {
  test('hold together at most the limit, and see the permits of both', async () => {
    const [mine, others] = [capOf(a, 'shared', 3), capOf(b, 'shared', 3)]
    const permits = [await mine.acquire('k'), await others.acquire('k'), await mine.acquire('k')]
    expect([await mine.acquire('k'), await others.acquire('k')]).toEqual([undefined, undefined])
    expect([await mine.count('k'), await others.count('k')]).toEqual([3, 3])
    permits[0]?.release()
    await eventually(() => others.count('k'), 2)
    expect(await others.acquire('k')).toBeDefined()
  })

  test('grant the whole weight or nothing, and lighter requests if they fit', async () => {
    const [mine, others] = [capOf(a, 'weights', 10), capOf(b, 'weights', 10)]
    await others.acquire('k', { weight: 4 })
    const asked = [5, 2, 1, 1].map((weight) => mine.acquire('k', { weight }))
    const given = (await Promise.all(asked)).map((permit) => permit !== undefined)
    expect(given).toEqual([true, false, true, false])
    expect(await others.count('k')).toBe(10)
  })

  test('admit exactly the limit of thousands of concurrent requests, with few calls', async () => {
    const [mine, others] = [capOf(a, 'crowd', 1_000), capOf(b, 'crowd', 1_000)]
    await admin.config('RESETSTAT')
    const asked = Array.from({ length: 4_000 }, (_, index) => (index % 2 ? mine : others).acquire('k'))
    const given = (await Promise.all(asked)).filter((permit) => permit !== undefined)
    expect(given).toHaveLength(1_000)
    const calls = Number(/cmdstat_evalsha:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1])
    expect(calls).toBeLessThan(20)
    for (const permit of given) permit.release()
    await eventually(() => mine.count('k'), 0)
  })
})

describe('caps on one backend', () => {
  test('with different names are counted separately, also for one key', async () => {
    const [one, two] = [capOf(a, 'one', 1), capOf(a, 'two', 5)]
    await one.acquire()
    expect([await one.acquire(), await two.count()]).toEqual([undefined, 0])
    expect(await two.acquire()).toBeDefined()
  })

  test('with the same name must have the same limit', () => {
    capOf(a, 'same', 5)
    expect(() => capOf(a, 'same', 5)).not.toThrow()
    expect(() => capOf(a, 'same', 6)).toThrow(expect.objectContaining({ code: 'SLUICE_DUPLICATE_POLICY' }))
  })

  test('may reuse a name with another limit after it was released', () => {
    const first = capOf(a, 'returned', 5)
    first.close()
    expect(() => capOf(a, 'returned', 6)).not.toThrow()
  })

  test('must have the limit of their backend if it has one', () => {
    const backend = redisInflight(admin, { limit: 5 })
    expect(() => capOf(backend, 'x', 6)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_LIMIT' }))
    expect(() => capOf(backend, 'x', 5)).not.toThrow()
  })
})

describe('the stored data', () => {
  test('is one hash per key and cap, which is deleted with its last permit', async () => {
    const cap = capOf(a, 'stored', 5)
    const permits = [await cap.acquire('k'), await cap.acquire('k', { weight: 2 })]
    const name = 'sluice:{k}:default/stored/inflight@1'
    const [places] = Object.values(await admin.hgetall(name))
    expect(places).toMatch(/^3 \d{13}$/)
    const leftMs = await admin.pttl(name)
    expect(leftMs).toBeGreaterThan(9_000)
    expect(leftMs).toBeLessThanOrEqual(10_001)
    for (const permit of permits) permit?.release()
    await eventually(() => admin.exists(name), 0)
  })

  test('is separate for hostile keys', async () => {
    const cap = capOf(a, 'hostile', 1)
    const given = await Promise.all(hostileKeys.map((key) => cap.acquire(key)))
    expect(given.every((permit) => permit !== undefined)).toBe(true)
    expect(await Promise.all(hostileKeys.map((key) => cap.acquire(key)))).toEqual(hostileKeys.map(() => undefined))
  })

  test('loses foreign fields of a hash', async () => {
    const cap = capOf(a, 'damaged', 2)
    await admin.hset(
      'sluice:{k}:default/damaged/inflight@1',
      'x',
      'nonsense',
      'y',
      '1e9 12',
      'z',
      '7 99999',
      'waits:z',
      '1',
    )
    expect(await cap.count('k')).toBe(0)
  })
})

describe('a permit whose caller has timed out', () => {
  test('is released at once', async () => {
    const cap = capOf(a, 'aborted', 2)
    const gone = new AbortController()
    const asked = cap.acquire('k', { signal: gone.signal })
    gone.abort()
    expect(await asked).toBeUndefined()
    await eventually(() => admin.exists('sluice:{k}:default/aborted/inflight@1'), 0)
  })
})

describe('a closed backend', () => {
  test('has released all permits, and counts locally from then on', async () => {
    const leaving = await fleet.member({ deadlineMs: PATIENT_MS })
    const [left, staying] = [capOf(leaving, 'closing', 2), capOf(b, 'closing', 2)]
    const permit = (await left.acquire('k')) as Permit
    await leaving.close?.()
    expect(await staying.count('k')).toBe(0)
    expect([await left.count('k'), permit.lost.aborted]).toEqual([1, false])
    expect([await left.acquire('k'), await left.acquire('k')]).toEqual([expect.anything(), undefined])
    permit.release()
    expect(await staying.count('k')).toBe(0)
  })
})

describe('an error of a single key', () => {
  test('is answered locally, and does not affect other keys', async () => {
    const told: unknown[] = []
    const backend = await fleet.member({
      deadlineMs: PATIENT_MS,
      observers: [{ event: (name, data) => told.push([name, data.cause]) }],
    })
    const cap = capOf(backend, 'mixed', 2)
    await admin.set('sluice:{bad}:default/mixed/inflight@1', 'text')
    for (let round = 0; round < 15; round++) {
      const [bad, good] = await Promise.all([cap.acquire('bad'), cap.acquire('good')])
      expect([bad, good]).toEqual([expect.anything(), expect.anything()])
      expect(await capOf(b, 'mixed', 2).count('good')).toBe(1)
      bad?.release()
      good?.release()
      await eventually(() => cap.count('good'), 0)
    }
    expect(new Set(told.map(String))).toEqual(new Set(['backendFailed,WRONGTYPE']))
  })
})

describe('a missing script', () => {
  test('does not affect the answer of any acquire', async () => {
    const cap = capOf(a, 'flushed', 100)
    for (let round = 1; round <= 20; round++) {
      await admin.script('FLUSH')
      await Promise.all([cap.acquire('k'), cap.acquire(`k${round}`)])
      expect(await capOf(b, 'flushed', 100).count('k')).toBe(round)
    }
  })
})

describe('invalid options', () => {
  test.each<[string, object, string]>([
    ['an unknown option', { max: 3 }, 'SLUICE_BAD_OPTION'],
    ['a limit of 0', { limit: 0 }, 'SLUICE_BAD_LIMIT'],
    ['a lease below three deadlines', { leaseMs: 149 }, 'SLUICE_BAD_DURATION'],
    ['an invalid lease', { leaseMs: 'long' }, 'SLUICE_BAD_DURATION'],
    ['a deadline of 0', { deadlineMs: 0 }, 'SLUICE_BAD_DURATION'],
    ['a negative hold time', { maxHoldMs: -1 }, 'SLUICE_BAD_DURATION'],
    ['an invalid scope', { scope: '' }, 'SLUICE_BAD_NAME'],
    ['braces in the prefix', { prefix: '{a}' }, 'SLUICE_BAD_OPTION'],
    ['hashed keys without a secret', { hashKeys: 'all' }, 'SLUICE_SECRET_MISSING'],
    ['observers that are not a list', { observers: {} }, 'SLUICE_BAD_OPTION'],
    ['an invalid clock', { clock: 3 }, 'SLUICE_BAD_OPTION'],
    ['an invalid server time', { serverTime: 3 }, 'SLUICE_BAD_OPTION'],
  ])('%s is rejected with a code', (_, options, code) => {
    expect(() => redisInflight(admin, options)).toThrow(expect.objectContaining({ code }))
  })

  test('such as an invalid client are rejected with a code', () => {
    expect(() => redisInflight({} as never)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
  })

  test('such as a missing limit are reported if no cap has one', () => {
    expect(() => redisInflight(admin).acquire('k')).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_LIMIT' }))
  })
})
