import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { prometheusText } from '@sluice/fleet/metrics'
import { type Backend, createLimiter, type Decision, type Limiter, type PolicyInput } from '@sluice/limiter-core'
import { type RedisConnection, redisBackend, type SyncedBackendOptions, syncedBackend } from '@sluice/redis'
import { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { ownPrefix } from '../exact/own-prefix.ts'
import { eventually } from '../inflight/fleet.ts'

let server: RedisServer
const open: { disconnect(): void }[] = []
const backends: Backend[] = []

beforeAll(async () => {
  server = await startRedis()
})

afterAll(async () => {
  for (const backend of backends) await backend.close?.()
  for (const client of open) client.disconnect()
  await server.stop()
})

const policy: PolicyInput = { name: 'api', limit: 100, window: '1h', algorithm: 'fixed-window' }

function connect(): RedisConnection {
  const client = new Redis({ port: server.port, maxRetriesPerRequest: 0, retryStrategy: () => 20 })
  client.on('error', () => {})
  open.push(client)
  return client as never
}

/** An exact backend with the same names. */
function exactly(prefix: string): Limiter {
  const backend = redisBackend(connect() as never, { prefix })
  backends.push(backend)
  return createLimiter({ policies: [{ ...policy, backend }], scope: 'shared', deadlineMs: 5_000 })
}

function synced(options: SyncedBackendOptions): Limiter<Decision> {
  const backend = syncedBackend(connect() as never, { tickMs: 100, gapMs: 20, ...options })
  backends.push(backend)
  return createLimiter({ policies: [{ ...policy, backend }], scope: 'shared', shared: true })
}

describe('syncedBackend', () => {
  test('decides at once, and soon includes the usage of all processes', async () => {
    const prefix = ownPrefix()
    const [one, two] = [synced({ prefix, nodes: 2 }), synced({ prefix, nodes: 2 })]
    const decision = one.take('a', 20)
    expect([decision.allowed, decision.source, decision.counted, decision.binding.remaining]).toEqual([
      true,
      'synced',
      true,
      80,
    ])
    const exact = exactly(prefix)
    await eventually(async () => (await exact.peek('a')).binding.remaining, 80)
    two.take('a', 5)
    await eventually(() => two.peek('a').binding.remaining, 75)
    one.take('a', 5)
    await eventually(() => one.peek('a').binding.remaining, 70)
  })

  test('shares its counts with exact processes under the same names', async () => {
    const prefix = ownPrefix()
    const limiter = synced({ prefix, nodes: 1 })
    const exact = exactly(prefix)
    limiter.take('a', 20)
    await eventually(async () => (await exact.peek('a')).binding.remaining, 80)
    await exact.take('a', 50)
    limiter.take('a', 5)
    await eventually(() => limiter.peek('a').binding.remaining, 25)
  })

  test('admits at most `burst` of a limit before the first exchange', () => {
    const limiter = synced({ prefix: ownPrefix(), nodes: 4, burst: 0.25 })
    const allowed = Array.from({ length: 40 }, () => limiter.take('cold').allowed)
    expect(allowed.filter(Boolean)).toHaveLength(25)
    const { retryAfterMs, binding } = limiter.take('cold')
    expect([retryAfterMs, binding.remaining, binding.availableAfterMs]).toEqual([20, 0, 20])
  })

  test('rejects unsupported policies with a code and an alternative', () => {
    const backend = syncedBackend(connect() as never, { nodes: 20 })
    backends.push(backend)
    const build = (input: Partial<PolicyInput>) => () =>
      createLimiter({ policies: [{ ...policy, ...input } as PolicyInput], backend })
    expect(build({ algorithm: 'sliding-log' })).toThrow(/SLUICE_BAD_POLICY.*sliding-log.*redisBackend/)
    expect(build({ window: '3s' })).toThrow(/SLUICE_BAD_POLICY.*4 ticks.*3000 ms/)
    expect(build({ limit: 10 })).toThrow(/SLUICE_BAD_POLICY.*20 processes/)
  })

  test.each<[SyncedBackendOptions, string]>([
    [{ tickMs: 50 }, 'tickMs: expected a duration from 100 to 60000 ms, received 50'],
    [{ gapMs: 2_000 }, 'gapMs: expected a duration from 1 to 1000 ms, received 2000'],
    [{ burst: 0 }, 'burst: expected a number above 0 and at most 1, received 0'],
    [{ burst: 1.5 }, 'burst: expected a number above 0 and at most 1, received 1.5'],
    [{ floor: -1 }, 'floor: expected a number of at least 0, received -1'],
    [{ nodes: 0 }, 'nodes: expected an integer of at least 1, received 0'],
    [{ maxKeys: 0.5 }, 'maxKeys: expected an integer of at least 1, received 0.5'],
    [{ silentMs: 10 }, 'silentMs: expected a duration from 1000 to 600000 ms, received 10'],
    [{ count: 'none' as never }, "expected 'admitted' or 'all'"],
  ])('rejects the options %j', (options, message) => {
    expect(() => syncedBackend(connect() as never, options)).toThrow(message)
  })
})

describe('an unavailable Redis', () => {
  test('is not an error; after silentMs each process admits its share, and later reports it', async () => {
    const prefix = ownPrefix()
    const limiter = synced({ prefix, nodes: 4, silentMs: 300, burst: 1 })
    await exactly(prefix).take('a', 20)
    limiter.take('a')
    await eventually(() => limiter.peek('a').binding.remaining, 79)
    await server.kill()
    limiter.take('a')
    await eventually(() => limiter.peek('a').source, 'local')
    // of the 79 remaining units each of 4 processes may admit a quarter, and this one has admitted one
    const allowed = Array.from({ length: 40 }, () => limiter.take('a')).filter((decision) => decision.allowed)
    expect(allowed).toHaveLength(18)
    expect(allowed.every(({ counted, source }) => !counted && source === 'local')).toBe(true)
    await server.restart()
    await eventually(() => limiter.peek('a').source, 'synced')
  })

  test.each([
    ['allow', true],
    ['deny', false],
  ] as const)('is answered by the rule %s if configured', async (onBackendError, isAllowed) => {
    const limiter = synced({ prefix: ownPrefix(), nodes: 1, silentMs: 200, onBackendError })
    limiter.take('a')
    await eventually(() => limiter.peek('a').source, 'synced')
    await server.kill()
    limiter.take('a', 5)
    await eventually(() => limiter.peek('a').source, onBackendError)
    const decision = limiter.take('a', 90)
    expect([decision.allowed, decision.counted]).toEqual([isAllowed, false])
    await server.restart()
    await eventually(() => limiter.peek('a').source, 'synced')
  })

  test('restarts empty: an exhausted key stays exhausted, and a key in use keeps its usage', async () => {
    const prefix = ownPrefix()
    const limiter = synced({ prefix, nodes: 1, burst: 1, floor: 0 })
    for (let request = 0; request < 100; request++) limiter.take('full')
    limiter.take('half', 50)
    await eventually(() => limiter.peek('half').binding.remaining, 50)
    await server.kill()
    await server.restart()
    let admitted = 0
    const exact = exactly(prefix)
    await eventually(async () => {
      if (limiter.take('full').allowed) admitted++
      return (await exact.peek('full')).binding.remaining
    }, 0)
    limiter.take('half', 10)
    await eventually(async () => (await exact.peek('half')).binding.remaining, 40)
    expect(admitted).toBe(0)
  })

  test('restarts empty: usage known to several processes counts once, and new usage of each is added once', async () => {
    const prefix = ownPrefix()
    const [one, two] = [synced({ prefix, nodes: 2, floor: 0 }), synced({ prefix, nodes: 2, floor: 0 })]
    one.take('a', 20)
    two.take('a', 5)
    const exact = exactly(prefix)
    const left = async (): Promise<number> => (await exact.peek('a')).binding.remaining
    await eventually(left, 75)
    one.take('a', 1)
    await eventually(() => one.peek('a').binding.remaining, 74)
    await server.kill()
    await server.restart()
    two.take('a', 2)
    one.take('a', 3)
    await eventually(left, 69)
    one.take('a', 4)
    two.take('a', 4)
    await eventually(left, 61)
  })
})

test('reports its metrics under the names that global limiters use', async () => {
  const backend = syncedBackend(connect() as never, { prefix: ownPrefix(), tickMs: 100, gapMs: 20, burst: 0.25 })
  backends.push(backend)
  const limiter = createLimiter({ policies: [{ ...policy, backend }] }) as Limiter<Decision>
  for (let request = 0; request < 30; request++) limiter.take('a')
  await eventually(() => /^sluice_global_records_total\{op="exchange"\} [1-9]/m.test(prometheusText(backend)), true)
  const text = prometheusText(backend)
  expect(text).toMatch(/^sluice_global_eval_counts_total\{result="allowed"\} 25$/m)
  expect(text).toMatch(/^sluice_global_eval_counts_total\{result="limited"\} 5$/m)
  expect(text).toMatch(/^sluice_global_cache_counts_total\{result="miss"\} [1-9]/m)
  expect(text).toMatch(/^sluice_global_pipeline_ms_count [1-9]/m)
  expect(text).toMatch(/^sluice_global_cache_bytes [1-9]/m)
  expect(text).toMatch(/^sluice_global_estimate_drift_count [1-9]/m)
  expect(text).not.toMatch(/="a"/)
})
