import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  type Backend,
  type BackendErrorRule,
  createLimiter,
  type Decision,
  type Limiter,
  type Observer,
} from '@sluice/limiter-core'
import { redisBackend } from '@sluice/redis'
import { FakeClock } from '@sluice/testkit'
import { PromisedBackend } from '../contracts/async-backend.ts'
import { type Connected, singleServerClients } from '../redis/connected-clients.ts'
import { eventually } from '../services/eventually.ts'
import { type RedisServer, startRedis } from '../services/redis/redis-server.ts'

const MINUTE = 60_000
const RULES: readonly BackendErrorRule[] = ['local', 'allow', 'deny']

function limiterOn(backend: Backend, clock: FakeClock, onBackendError: BackendErrorRule, bans: unknown[]): Limiter {
  const observer: Observer = { event: (name, data) => void (name === 'ban' && bans.push(data)) }
  return createLimiter({
    name: 'api',
    limit: 2,
    window: '10s',
    backend,
    clock,
    onBackendError,
    shared: true,
    observers: [observer],
    ban: { after: 2, within: '1m', for: '5m', growth: 2 },
  })
}

async function take(limiter: Limiter, times: number): Promise<Decision[]> {
  const decisions: Decision[] = []
  for (let time = 0; time < times; time++) {
    decisions.push(await limiter.take('a'))
    for (let call = 0; call < 5; call++) await limiter.peek('another key')
  }
  return decisions
}

describe.each(RULES)('while the backend fails, with the rule %s', (rule) => {
  test('a known ban continues until its end, and not longer', async () => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const backend = new PromisedBackend(clock)
    const bans: unknown[] = []
    const limiter = limiterOn(backend, clock, rule, bans)
    await take(limiter, 4)
    expect(bans).toHaveLength(1)
    backend.failure = new Error('down')
    for (let minute = 0; minute < 5; minute++) {
      const [{ source, retryAfterMs }] = await take(limiter, 1)
      expect([source, retryAfterMs]).toEqual(['banned', (5 - minute) * MINUTE])
      clock.advance(MINUTE)
    }
    expect((await take(limiter, 1))[0].source).toBe(rule)
    // the backend ends the ban at the same time
    backend.failure = undefined
    clock.advance(MINUTE)
    await take(limiter, 1)
    expect((await take(limiter, 1))[0].source).not.toBe('banned')
    await limiter.close()
  })

  test('denials of the failure rule are not strikes', async () => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const backend = new PromisedBackend(clock)
    const bans: unknown[] = []
    const limiter = limiterOn(backend, clock, rule, bans)
    await take(limiter, 1)
    backend.failure = new Error('down')
    for (const { source } of await take(limiter, 20)) expect(source).toBe(rule)
    expect(bans).toEqual([])
    await limiter.close()
  })
})

test('a ban that another process learned from the backend continues with its mirror', async () => {
  const clock = new FakeClock({ nowMs: 1_000 })
  const backend = new PromisedBackend(clock)
  const bans: unknown[] = []
  const [limiter, other] = [1, 2].map(() => limiterOn(backend, clock, 'local', bans))
  await take(limiter, 4)
  expect((await take(other, 1))[0].source).toBe('banned')
  backend.failure = new Error('down')
  clock.advance(MINUTE)
  expect((await take(other, 1))[0]).toMatchObject({ source: 'banned', retryAfterMs: 4 * MINUTE })
  for (const one of [limiter, other]) await one.close()
})

describe('redisBackend', () => {
  let server: RedisServer
  let connected: Connected

  beforeAll(async () => {
    server = await startRedis()
    const [[, connect]] = singleServerClients
    connected = await connect(server.port)
  })

  afterAll(async () => {
    await connected.close()
    await server.stop()
  })

  test('a ban survives the loss of all data, because a process that knows it restores it', async () => {
    const bans: unknown[] = []
    const observer: Observer = { event: (name, data) => void (name === 'ban' && bans.push(data)) }
    const made = (): Limiter =>
      createLimiter({
        name: 'api',
        limit: 2,
        window: '10s',
        backend: redisBackend(connected.client),
        deadlineMs: 5_000,
        shared: true,
        observers: [observer],
        ban: { after: 2, within: '1m', for: '5m' },
      })
    const [limiter, other] = [made(), made()]
    for (let time = 0; time < 4; time++) await limiter.take('a')
    await eventually(async () => bans.length === 1, { what: 'the ban' })
    await eventually(async () => (await other.take('a')).source === 'banned', { what: 'the ban in another process' })
    await server.kill()
    // the processes answer from their memory
    expect((await limiter.take('a')).source).toBe('banned')
    expect((await other.take('a')).source).toBe('banned')
    await server.restart({ empty: true })
    // a known ban is read again, which restores it
    const fresh = made()
    await eventually(
      async () => {
        expect((await other.take('a')).source).toBe('banned')
        return (await fresh.peek('a')).source === 'banned'
      },
      { what: 'the ban in the empty server' },
    )
    expect((await fresh.peek('a')).retryAfterMs).toBeLessThanOrEqual(5 * MINUTE)
    for (const one of [limiter, other, fresh]) await one.close()
  })
})
