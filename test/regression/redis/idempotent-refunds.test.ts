import { once } from 'node:events'
import { describe, expect, test } from '@jest/globals'
import { type AlgorithmName, newIdempotencyKey, systemClock } from '@sluice/limiter-core/backend'
import { redisBackend } from '@sluice/redis'
import { numberOfRuns } from '@sluice/testkit'
import { Redis } from 'ioredis'
import { algorithmNames } from '../../algorithms/any-policy.ts'
import { chargeOf, remaining } from '../../redis/exact/charge.ts'
import { clients, type RedisClass } from '../../redis/inflight/fleet.ts'
import { eventually } from '../../services/eventually.ts'
import { forTests } from '../../services/for-tests.ts'
import { startProxy } from '../../services/proxies/tcp-proxy.ts'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'

const LIMIT = 100
/** `npm test` takes two of them. */
const algorithms = algorithmNames.slice(0, numberOfRuns(algorithmNames.length))

const redis = redisClientForTests()
const path = forTests(
  () => startProxy(redis.server.port),
  (proxy) => proxy.stop(),
)
let made = 0

const ran = async (): Promise<number> =>
  Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.client.info('commandstats'))?.[1] ?? 0)

/** Calls whose answer is lost because the connection breaks, so that ioredis sends the command again. */
async function answeredInVain(
  client: Redis,
  send: () => Promise<unknown>,
  between: () => Promise<unknown> = async () => {},
): Promise<void> {
  const before = await ran()
  path.current.loseAnswers()
  const sent = send().catch(() => {})
  await eventually(async () => (await ran()) === before + 1, { what: 'the first arrival' })
  await between()
  const arrived = await ran()
  path.current.cut()
  path.current.heal()
  await eventually(async () => (await ran()) === arrived + 1, { what: 'the second arrival' })
  await sent
  expect(client.status).toBe('ready')
}

/** A backend over a client of the user with default ioredis options. */
async function scene(Client: RedisClass, algorithm: AlgorithmName) {
  const client = new Client(path.current.port, '127.0.0.1')
  client.on('error', () => {})
  await once(client, 'ready')
  const backend = redisBackend(client)
  const direct = redisBackend(redis.client)
  const policy = { name: `once-${made++}`, algorithm, limit: LIMIT, windowMs: 3_600_000 }
  const charge = (cost: number) => [chargeOf(backend, policy, 'key', cost)]
  // the server has the scripts, so that each call is one EVALSHA
  const { takenAt } = await backend.takeAll(charge(40))
  for (const cost of [0, 1, -1]) await backend.adjustAll([{ ...charge(cost)[0], key: 'other' }], takenAt)
  await backend.resetAll([{ ...charge(0)[0], key: 'other' }])
  const used = async (): Promise<number> => LIMIT - (await remaining(direct, policy, 'key'))
  const close = (): void => {
    backend.close?.()
    direct.close?.()
    client.disconnect()
  }
  return { client, backend, direct, charge, takenAt, used, close }
}

describe.each(clients)('over a client of %s with its own options, a command that is sent again', (_, Client) => {
  test.each(algorithms)('refunds units of %s once', async (algorithm) => {
    const { client, backend, charge, takenAt, used, close } = await scene(Client, algorithm)
    await answeredInVain(client, () => backend.adjustAll(charge(-10), takenAt))
    expect(await used()).toBe(30)
    close()
  })

  test.each(algorithms)('charges units of %s once', async (algorithm) => {
    const { client, backend, charge, takenAt, used, close } = await scene(Client, algorithm)
    await answeredInVain(client, () => backend.adjustAll(charge(10), takenAt))
    expect(await used()).toBe(50)
    close()
  })

  test('resets a key once', async () => {
    const { client, backend, direct, charge, used, close } = await scene(Client, 'fixed-window')
    const [target] = charge(0)
    const between = (): Promise<unknown> => direct.takeAll(charge(5))
    await answeredInVain(client, async () => backend.resetAll([target]), between)
    expect(await used()).toBe(5)
    close()
  })
})

describe('an adjustment that is repeated with its idempotency key', () => {
  test.each(algorithms)('is applied once to %s, and returns the first answer', async (algorithm) => {
    const { backend, direct, charge, takenAt, used, close } = await scene(Redis, algorithm)
    const idempotencyKey = newIdempotencyKey(systemClock.now())
    const adjusts = [backend, direct, backend].map((one) => one.adjustAll(charge(-10), takenAt, { idempotencyKey }))
    const answers = await Promise.all(adjusts)
    expect(answers.map(({ verdicts }) => verdicts[0].remaining)).toEqual([70, 70, 70])
    await backend.adjustAll(charge(-10), takenAt, { idempotencyKey: newIdempotencyKey(systemClock.now()) })
    await backend.adjustAll(charge(-10), takenAt)
    // units that drain from a bucket meanwhile are not refunded as well
    expect(Math.floor((await used()) / 2)).toBe(5)
    close()
  })

  test('is applied once for each of its charges, in any combination', async () => {
    const { backend, charge, used, close } = await scene(Redis, 'fixed-window')
    const idempotencyKey = newIdempotencyKey(systemClock.now())
    const [one] = charge(-10)
    const other = { ...one, key: 'another' }
    const { takenAt } = await backend.takeAll([{ ...other, cost: 40 }])
    await backend.adjustAll([one, other], takenAt, { idempotencyKey })
    const { verdicts } = await backend.adjustAll([other], takenAt, { idempotencyKey })
    expect([verdicts[0].remaining, await used()]).toEqual([70, 30])
    close()
  })

  test('is rejected if the idempotency key is half a minute old', async () => {
    const { backend, charge, takenAt, used, close } = await scene(Redis, 'fixed-window')
    const idempotencyKey = newIdempotencyKey(systemClock.now() - 30_000)
    await expect(backend.adjustAll(charge(-10), takenAt, { idempotencyKey })).rejects.toMatchObject({ code: 'LATE' })
    expect(await used()).toBe(40)
    close()
  })

  test('stores a small key for half a minute', async () => {
    const { backend, charge, takenAt, close } = await scene(Redis, 'fixed-window')
    await backend.adjustAll(charge(-10), takenAt, { idempotencyKey: { id: 'its-id', issuedAt: systemClock.now() } })
    const names = await redis.client.keys('*:done:its-id')
    expect(names).toHaveLength(1)
    expect(await redis.client.pttl(names[0])).toBeGreaterThan(29_000)
    expect(await redis.client.pttl(names[0])).toBeLessThanOrEqual(31_000)
    expect(await redis.client.memory('USAGE', names[0])).toBeLessThan(200)
    close()
  })
})
