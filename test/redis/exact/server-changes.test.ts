import { beforeEach, describe, expect, test } from '@jest/globals'
import type { AlgorithmName, Policy } from '@sluice/limiter-core'
import { redisBackend } from '@sluice/redis'
import { eventually } from '../../services/eventually.ts'
import { onFreePorts } from '../../services/free-port.ts'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'
import { startRedis } from '../../services/redis/redis-server.ts'
import { chargeOf } from './charge.ts'

const HOUR_MS = 3_600_000
const algorithms: readonly [AlgorithmName, number][] = [
  ['fixed-window', 1],
  ['sliding-window', 1],
  ['sliding-window', 6],
  ['sliding-log', 1],
  ['token-bucket', 1],
  ['gcra', 1],
]

const redis = redisClientForTests()
let now: number

beforeEach(async () => {
  now = 2e12
  await redis.client.flushall()
})

const policyOf = (algorithm: AlgorithmName, slices: number, limit: number): Policy => ({
  ...{ name: 'api', algorithm, limit, windowMs: 60_000 },
  ...(algorithm === 'sliding-window' ? { slices } : {}),
})

describe.each(algorithms)('a key of %s with %d slices', (algorithm, slices) => {
  const policy = policyOf(algorithm, slices, 10)

  test("that was denied waits no longer than the step when the server's clock is set back", async () => {
    const backend = redisBackend(redis.client, { serverTime: () => now })
    const take = async () => (await backend.takeAll([chargeOf(backend, policy, 'k')])).verdicts[0]
    for (let unit = 0; unit < 10; unit++) await take()
    const before = (await take()).retryAfterMs
    now -= HOUR_MS
    const { allowed, retryAfterMs } = await take()
    expect([allowed, retryAfterMs <= before + HOUR_MS]).toEqual([false, true])
    now += retryAfterMs
    expect((await take()).allowed).toBe(true)
  })

  test('keeps its usage when its limit changes, and changes back', async () => {
    const backend = redisBackend(redis.client, { serverTime: () => now })
    const left = async (limit: number): Promise<number> =>
      (await backend.peekAll([chargeOf(backend, policyOf(algorithm, slices, limit), 'k')])).verdicts[0].remaining
    for (let unit = 0; unit < 8; unit++) await backend.takeAll([chargeOf(backend, policy, 'k')])
    const isPart = algorithm === 'gcra'
    expect([await left(20), await left(5), await left(10)]).toEqual(isPart ? [4, 1, 2] : [12, 0, 2])
  })
})

describe('a cluster with a missing slot', () => {
  test.each([
    ['yes', 'CLUSTERDOWN'],
    ['no', 'counted'],
  ])('with cluster-require-full-coverage %s: a key of another slot is %s', async (coverage, expected) => {
    const node = await onFreePorts((port, busPort) =>
      startRedis({
        port,
        args: [
          ...['--cluster-enabled', 'yes', '--cluster-port', String(busPort)],
          ...['--cluster-require-full-coverage', coverage],
        ],
      }),
    )
    const direct = node.client()
    await direct.cluster('ADDSLOTSRANGE', 0, 16_382)
    const backend = redisBackend(direct)
    const policy = policyOf('fixed-window', 1, 10)
    const outcome = (): Promise<string> =>
      backend.takeAll([chargeOf(backend, policy, 'k')]).then(
        () => 'counted',
        ({ code }) => code,
      )
    await eventually(async () => (await outcome()) === expected, { what: expected })
    await node.stop()
  })
})
