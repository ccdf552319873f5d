import { afterEach, describe, expect, test } from '@jest/globals'
import { inflightLimit } from '@sluice/express'
import {
  type CapControls,
  type CapHandle,
  createInflightLimiter,
  type InflightBackend,
  type Observer,
  type Permit,
} from '@sluice/limiter-core'
import { redisInflight } from '@sluice/redis'
import { sketchInflight } from '@sluice/sketches/limits'
import { FakeClock } from '@sluice/testkit'
import express from 'express'
import request from 'supertest'
import { ownRedis } from '../redis/channel/own-redis.ts'

/** An observer that controls the caps it observes. */
class Operator implements Observer {
  readonly caps: CapHandle[] = []

  capOpened(cap: CapHandle): void {
    this.caps.push(cap)
  }

  capClosed(cap: CapHandle): void {
    this.caps.splice(this.caps.indexOf(cap), 1)
  }

  /** `blocked`: how long each key stays blocked, in ms. */
  control(controls: Partial<CapControls>, blocked: Readonly<Record<string, number>> = {}, owner?: object): void {
    for (const cap of this.caps) cap.control({ blockedMs: (key) => blocked[key] ?? 0, ...controls }, owner)
  }

  release(owner?: object): void {
    for (const cap of this.caps) cap.control(undefined, owner)
  }
}

const redis = ownRedis()
const closes: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closes.splice(0)) await close()
})

function backendOf(name: string): InflightBackend | undefined {
  if (name === 'memory') return undefined
  const options = { prefix: redis.prefix(), deadlineMs: 5_000, leaseMs: 20_000 }
  const backend = name === 'redis' ? redisInflight(redis.client, options) : sketchInflight({})
  closes.push(() => backend.close?.())
  return backend
}

describe.each(['memory', 'redis', 'sketch'])('a cap in %s under the controls of an operator', (name) => {
  function controlled(limit: number) {
    const operator = new Operator()
    const cap = createInflightLimiter({ name: 'cap', limit, backend: backendOf(name), observers: [operator] })
    const held: Permit[] = []
    closes.push(() => {
      for (const permit of held) permit.release()
      return cap.close()
    })
    const acquire = async (key = 'key', weight = 1): Promise<boolean> => {
      const permit = await cap.acquire(key, { weight })
      if (permit) held.push(permit)
      return permit !== undefined
    }
    return { operator, cap, held, acquire }
  }

  test('has another limit until it is released, and keeps the permits that are held', async () => {
    const { operator, cap, held, acquire } = controlled(1)
    expect([await acquire(), await acquire()]).toEqual([true, false])
    operator.control({ limit: 3 })
    expect(cap.limit).toBe(3)
    expect([await acquire(), await acquire(), await acquire()]).toEqual([true, true, false])
    operator.control({ limit: 2 })
    expect(await cap.count('key')).toBe(3)
    held.pop()?.release()
    expect(await acquire()).toBe(false)
    held.pop()?.release()
    expect(await acquire()).toBe(true)
    operator.release()
    expect([cap.limit, await acquire()]).toEqual([1, false])
    for (const permit of held.splice(0)) permit.release()
    expect([await acquire(), await acquire()]).toEqual([true, false])
  })

  test('in shadow mode denies nothing, and counts what fits; off counts nothing', async () => {
    const { operator, cap, acquire } = controlled(1)
    operator.control({ mode: 'shadow' })
    expect([await acquire(), await acquire(), await cap.count('key')]).toEqual([true, true, 1])
    operator.control({ mode: 'off' })
    expect([await acquire('other'), await acquire('other'), await cap.count('other')]).toEqual([true, true, 0])
    operator.release()
    expect([await acquire(), await acquire('other'), await acquire('other')]).toEqual([false, true, false])
  })

  test('denies blocked keys unless it is in shadow mode', async () => {
    const { operator, acquire } = controlled(5)
    operator.control({}, { villain: 1_000 })
    expect([await acquire('villain'), await acquire('other')]).toEqual([false, true])
    operator.control({ mode: 'shadow' }, { villain: 1_000 })
    expect(await acquire('villain')).toBe(true)
  })

  test('follows several owners: the more permissive mode, the smaller limit and all blocks', async () => {
    const { operator, cap, acquire } = controlled(5)
    const [one, other] = [{}, {}]
    operator.control({ limit: 3, mode: 'enforce' }, { a: 1 }, one)
    operator.control({ limit: 2 }, { b: 1 }, other)
    expect([cap.limit, await acquire('a'), await acquire('b'), await acquire('c')]).toEqual([2, false, false, true])
    operator.control({ mode: 'shadow' }, {}, other)
    expect([cap.limit, await acquire('a')]).toEqual([3, true])
    operator.release(one)
    operator.release(other)
    expect([cap.limit, await acquire('b')]).toEqual([5, true])
  })

  test('keeps its limit for requests that wait while the places are counted', async () => {
    const { operator, cap, acquire } = controlled(1)
    operator.control({ limit: 2 })
    expect(await acquire()).toBe(true)
    expect(await Promise.all([acquire(), cap.count('key')])).toEqual([true, expect.any(Number)])
  })

  test('rejects an invalid limit, and changes nothing', async () => {
    const { operator, cap } = controlled(5)
    operator.control({ limit: 4 })
    expect(() => operator.control({ limit: 0 })).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_LIMIT' }))
    expect(cap.limit).toBe(4)
  })
})

test('a backend with a limit of its own keeps it', () => {
  const operator = new Operator()
  const backend = redisInflight(redis.client, { limit: 3, prefix: redis.prefix() })
  const cap = createInflightLimiter({ name: 'cap', limit: 3, backend, observers: [operator] })
  closes.push(() => backend.close?.())
  expect(() => operator.control({ limit: 4 })).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_LIMIT' }))
  expect(cap.limit).toBe(3)
  void cap.close()
  expect(operator.caps).toEqual([])
})

describe('a capped application', () => {
  function served(mode: 'enforce' | 'shadow' = 'enforce') {
    const operator = new Operator()
    const key = (req: express.Request): string => String(req.headers.who ?? 'all')
    const clock = new FakeClock()
    const cap = inflightLimit({ name: 'uploads', limit: 1, key, mode, clock, observers: [operator], weight: heaviness })
    const app = express()
    app.use(cap, (_req, res) => void res.send('ok'))
    closes.push(() => cap.close())
    return { operator, app, ask: (headers = {}) => request(app).get('/').set(headers) }
  }
  const heaviness = (req: express.Request): number => Number(req.headers.weight ?? 1)

  test('answers a blocked key with the time until it is free, and shows the changed limit', async () => {
    const { operator, ask } = served()
    operator.control({ limit: 4 }, { villain: 90_000 })
    const denied = await ask({ who: 'villain' })
    expect([denied.status, denied.headers['retry-after']]).toEqual([503, '90'])
    expect((await ask({ weight: '3' })).status).toBe(200)
    operator.release()
    expect((await ask({ who: 'villain' })).status).toBe(200)
    expect((await ask({ weight: '3' })).status).toBe(503)
  })

  test('passes in shadow mode, and is denied by a cap in shadow mode that is enforced', async () => {
    const { operator, ask } = served()
    operator.control({ mode: 'shadow' }, { villain: 90_000 })
    expect((await ask({ who: 'villain' })).status).toBe(200)
    const trial = served('shadow')
    trial.operator.control({}, { villain: 90_000 })
    expect((await trial.ask({ who: 'villain' })).status).toBe(200)
    trial.operator.control({ mode: 'enforce' }, { villain: 90_000 })
    expect((await trial.ask({ who: 'villain' })).status).toBe(503)
    trial.operator.release()
    expect((await trial.ask({ who: 'villain' })).status).toBe(200)
  })
})
