import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { type Answer, algorithms, type Charge, systemClock } from '@sluice/limiter-core'
import { type LeasedBackendOptions, leasedBackend, redisBackend } from '@sluice/redis'
import { until } from '@sluice/testkit'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { type RedisServer, startRedis } from '../services/redis-server.ts'

jest.setTimeout(60_000)

const hour = { name: 'hour', algorithm: 'token-bucket', limit: 1_000, windowMs: 3_600_000 } as const
const step = algorithms['token-bucket'].compile(hour)
let server: RedisServer

beforeAll(async () => {
  server = await startRedis()
})

afterAll(() => server.stop())

function charge(key = 'a', cost = 1): Charge {
  return { key, step, count: 'leased/hour/token-bucket@1', cost }
}

describe.each([
  ['ioredis 6', Redis],
  ['ioredis 5', Redis5 as unknown as typeof Redis],
])('leasedBackend over %s', (_name, Client) => {
  let client: Redis

  beforeAll(() => {
    client = new Client(server.port)
    return once(client, 'ready')
  })

  afterAll(() => client.disconnect())

  const backend = (options: LeasedBackendOptions = {}) => {
    const prefix = randomUUID()
    return { prefix, leased: leasedBackend(client, { prefix, ...options }), exact: redisBackend(client, { prefix }) }
  }

  test('admits a whole limit and no more, 9 of 10 takes at once down to the last unit', async () => {
    const { leased } = backend()
    let allowed = 0
    let atOnce = 0
    for (let takes = 0; takes < 1_200; takes++) {
      const answer = leased.take([charge()])
      if (!(answer instanceof Promise)) atOnce++
      if ((await answer).verdicts[0].allowed) allowed++
    }
    // a unit comes back in 3.6 s
    expect(allowed).toBeGreaterThanOrEqual(1_000)
    expect(allowed).toBeLessThanOrEqual(1_002)
    expect(atOnce / 1_200).toBeGreaterThan(0.9)
    await leased.close?.()
  })

  test('keeps the counts of redisBackend, leaves them nothing on lease after its close, and no key without an end', async () => {
    const { leased, exact, prefix } = backend()
    for (let takes = 0; takes < 100; takes++) await leased.take([charge('{odd} key')])
    await leased.close?.()
    expect((await exact.peek([charge('{odd} key')])).verdicts[0].remaining).toBe(900)
    const keys = await client.keys(`${prefix}*`)
    expect(keys.length).toBe(2)
    for (const key of keys) expect(await client.pttl(key)).toBeGreaterThan(0)
  })

  test('charges what a process held that is gone, when its lease ends', async () => {
    const { leased, exact, prefix } = backend({ leaseMs: 200 })
    const silent = leasedBackend(client, { prefix, leaseMs: 200, clock: { ...systemClock, after: () => () => {} } })
    for (let takes = 0; takes < 40; takes++) await silent.take([charge()])
    const held = 1_000 - ((await leased.peek([charge()])) as Answer).verdicts[0].remaining
    expect(held).toBeGreaterThanOrEqual(40)
    const deadAt = systemClock.now() + 250
    await until(() => systemClock.now() > deadAt)
    await leased.peek([charge()])
    const { remaining } = (await exact.peek([charge()])).verdicts[0]
    expect(Math.abs(1_000 - remaining - held)).toBeLessThanOrEqual(1)
    await leased.close?.()
  })

  test('fails for a key of another type alone', async () => {
    const { leased, prefix } = backend()
    await client.lpush(`${prefix}:{broken}:leased/hour/token-bucket@1`, 'a list')
    await client.lpush(`${prefix}:{torn}:leased/hour/token-bucket@1:leases`, 'a list')
    const [broken, torn, sound] = await Promise.allSettled([
      leased.take([charge('broken')]),
      leased.take([charge('torn')]),
      leased.take([charge('sound')]),
    ])
    for (const failed of [broken, torn]) {
      expect(failed).toMatchObject({ status: 'rejected', reason: { code: 'WRONGTYPE', keyOnly: true } })
    }
    expect(sound.status).toBe('fulfilled')
    await leased.close?.()
  })

  test('changes nothing where Redis comes to an ask after its deadline', async () => {
    const { leased, exact } = backend()
    await leased.take([charge('first')])
    server.pause()
    const late = Promise.resolve(leased.take([charge('late', 50)], { deadlineAt: systemClock.now() + 50 }))
    const failure = expect(late).rejects.toMatchObject({ code: 'LATE' })
    const overAt = systemClock.now() + 100
    await until(() => systemClock.now() > overAt)
    server.resume()
    await failure
    expect((await exact.peek([charge('late')])).verdicts[0].remaining).toBe(1_000)
    expect((await leased.peek([charge('late')])).verdicts[0].remaining).toBe(1_000)
    await leased.close?.()
  })

  test('spends what it holds where Redis is not there, and rejects at once what it does not hold', async () => {
    const gone = new Client(server.port)
    await once(gone, 'ready')
    const leased = leasedBackend(gone, { prefix: randomUUID() })
    for (let takes = 0; takes < 30; takes++) await leased.take([charge()])
    const { takenAt } = await leased.take([charge('a', 20)])
    await leased.adjust([charge('a', -20)], takenAt)
    gone.disconnect()
    for (let takes = 0; takes < 10; takes++) expect(leased.take([charge()])).not.toBeInstanceOf(Promise)
    await expect(Promise.resolve(leased.take([charge('a', 300)]))).rejects.toMatchObject({ code: 'CONNECTION' })
    await leased.close?.()
  })
})
