import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Answer, Backend, Charge, Clock } from '@sluice/limiter-core/backend'
import { type LeasedBackendOptions, leasedBackend, redisBackend } from '@sluice/redis'
import { FakeClock, openedCounter } from '@sluice/testkit'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { eventually } from '../services/eventually.ts'
import { redisForTests } from '../services/redis/redis-for-tests.ts'

const hour = { name: 'hour', algorithm: 'token-bucket', limit: 1_000, windowMs: 3_600_000 } as const
const redis = redisForTests()

function charge(backend: Backend, key = 'a', cost = 1): Charge {
  return { key, counter: openedCounter(backend, 'leased', hour), cost }
}

/** Time of the server in epoch ms. */
async function timeOfRedis(client: Redis): Promise<number> {
  const [seconds, micros] = await client.time()
  return Number(seconds) * 1_000 + Number(micros) / 1_000
}

describe.each([
  ['ioredis 6', Redis],
  ['ioredis 5', Redis5 as unknown as typeof Redis],
])('leasedBackend over %s', (_name, Client) => {
  let client: Redis

  beforeAll(() => {
    client = new Client(redis.server.port)
    return once(client, 'ready')
  })

  afterAll(() => client.disconnect())

  const backend = (options: LeasedBackendOptions = {}) => {
    const prefix = randomUUID()
    const { clock, serverTime } = options
    const exact = redisBackend(client, { prefix, clock, serverTime })
    return { prefix, leased: leasedBackend(client, { prefix, ...options }), exact }
  }

  /** Options with which the process and Redis have the time of a clock that the test moves. */
  const timeOf = (clock: FakeClock) => ({ clock, serverTime: () => clock.now() })

  test('admits exactly the limit, 9 of 10 takes synchronously, down to the last unit', async () => {
    const { leased } = backend(timeOf(new FakeClock({ nowMs: 1_000 })))
    let allowed = 0
    let atOnce = 0
    for (let takes = 0; takes < 1_200; takes++) {
      const answer = leased.takeAll([charge(leased)])
      if (!(answer instanceof Promise)) atOnce++
      if ((await answer).verdicts[0].allowed) allowed++
    }
    expect(allowed).toBe(1_000)
    expect(atOnce / 1_200).toBeGreaterThan(0.9)
    await leased.close?.()
  })

  test('shares its counts with redisBackend, returns all leases when it is closed, and sets an expiry on each key', async () => {
    const { leased, exact, prefix } = backend()
    for (let takes = 0; takes < 100; takes++) await leased.takeAll([charge(leased, '{odd} key')])
    await leased.close?.()
    expect((await exact.peekAll([charge(exact, '{odd} key')])).verdicts[0].remaining).toBe(900)
    const keys = await client.keys(`${prefix}*`)
    expect(keys.length).toBe(2)
    for (const key of keys) expect(await client.pttl(key)).toBeGreaterThan(0)
  })

  test('charges the units leased to a process that died when the lease ends', async () => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const options = { leaseMs: 200, ...timeOf(clock) }
    const { leased, exact, prefix } = backend(options)
    const withoutTimers: Clock = { now: () => clock.now(), wall: () => clock.wall(), after: () => () => {} }
    const silent = leasedBackend(client, { prefix, ...options, clock: withoutTimers })
    for (let takes = 0; takes < 40; takes++) await silent.takeAll([charge(silent)])
    const held = 1_000 - ((await leased.peekAll([charge(leased)])) as Answer).verdicts[0].remaining
    expect(held).toBeGreaterThanOrEqual(40)
    clock.advance(250)
    await leased.peekAll([charge(leased)])
    const { remaining } = (await exact.peekAll([charge(exact)])).verdicts[0]
    expect(Math.abs(1_000 - remaining - held)).toBeLessThanOrEqual(1)
    await leased.close?.()
  })

  test('fails only for the key that has the wrong type', async () => {
    const { leased, prefix } = backend()
    await client.lpush(`${prefix}:{broken}:leased/hour/token-bucket@1`, 'a list')
    await client.lpush(`${prefix}:{torn}:leased/hour/token-bucket@1:leases`, 'a list')
    const [broken, torn, sound] = await Promise.allSettled([
      leased.takeAll([charge(leased, 'broken')]),
      leased.takeAll([charge(leased, 'torn')]),
      leased.takeAll([charge(leased, 'sound')]),
    ])
    for (const failed of [broken, torn]) {
      expect(failed).toMatchObject({ status: 'rejected', reason: { code: 'WRONGTYPE', keyOnly: true } })
    }
    expect(sound.status).toBe('fulfilled')
    await leased.close?.()
  })

  test('changes nothing if a request reaches Redis after its deadline', async () => {
    // stands still until the request is sent, while the clock of Redis passes the deadline
    const clock = new FakeClock({ nowMs: 1_000 })
    const { leased, exact } = backend({ clock })
    await leased.takeAll([charge(leased, 'first')])
    const deadline = (await timeOfRedis(client)) + 5
    await eventually(async () => (await timeOfRedis(client)) > deadline, { what: 'the deadline' })
    redis.server.pause()
    const late = Promise.resolve(leased.takeAll([charge(leased, 'late', 50)], { deadlineAt: clock.now() + 5 }))
    const failure = expect(late).rejects.toMatchObject({ code: 'LATE' })
    // the requests of a turn are sent after it
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(5)
    redis.server.resume()
    await failure
    expect((await exact.peekAll([charge(exact, 'late')])).verdicts[0].remaining).toBe(1_000)
    expect((await leased.peekAll([charge(leased, 'late')])).verdicts[0].remaining).toBe(1_000)
    await leased.close?.()
  })

  test('spends its leases while Redis is unavailable, and rejects other takes at once', async () => {
    const gone = new Client(redis.server.port)
    await once(gone, 'ready')
    const leased = leasedBackend(gone, { prefix: randomUUID() })
    for (let takes = 0; takes < 30; takes++) await leased.takeAll([charge(leased)])
    const { takenAt } = await leased.takeAll([charge(leased, 'a', 20)])
    await leased.adjustAll([charge(leased, 'a', -20)], takenAt)
    gone.disconnect()
    for (let takes = 0; takes < 10; takes++) expect(leased.takeAll([charge(leased)])).not.toBeInstanceOf(Promise)
    await expect(Promise.resolve(leased.takeAll([charge(leased, 'a', 300)]))).rejects.toMatchObject({
      code: 'CONNECTION',
    })
    await leased.close?.()
  })
})
