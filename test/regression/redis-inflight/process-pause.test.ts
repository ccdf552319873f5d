import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createInflightLimiter, type InflightLimiter, type Permit } from '@sluice/limiter-core'
import { createRedis, redisInflight, scriptRunner } from '@sluice/redis'
import { until } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { FaultyRunner } from '../../redis/inflight/faulty-runner.ts'
import { blockProcess } from '../../services/processes/block-process.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'

const LIMIT = 12
// a busy machine answers within these, too
const SOCKET_TIMEOUT_MS = 400
const DEADLINE_MS = 500
const LEASE_MS = 2_000

let server: RedisServer
let client: Redis
let others: Redis
let seen: string[]

beforeAll(async () => {
  server = await startRedis()
  client = createRedis(server.url, { socketTimeout: SOCKET_TIMEOUT_MS })
  others = server.client()
  await until(() => client.status === 'ready' && others.status === 'ready')
})

beforeEach(async () => {
  seen = []
  await others.flushall()
})

afterAll(async () => {
  client.disconnect()
  await server.stop()
})

/** A process that will be stalled, and one with a long timeout. Together they hold all permits. */
async function fleet(leaseMs: number, held: number) {
  const event = (name: string): void => {
    seen.push(name)
  }
  const pausing = redisInflight(client, { leaseMs, deadlineMs: DEADLINE_MS, observers: [{ event }] })
  const patient = redisInflight(others, { leaseMs: 60_000, deadlineMs: 10_000 })
  const caps = [pausing, patient].map((backend) => createInflightLimiter({ name: 'cap', limit: LIMIT, backend }))
  const permits = await acquired(caps[0], held)
  await acquired(caps[1], LIMIT)
  seen = []
  return { caps, permits, close: () => Promise.all([pausing.close?.(), patient.close?.()]) }
}

async function acquired(cap: InflightLimiter, times: number): Promise<Permit[]> {
  const asked = await Promise.all(Array.from({ length: times }, () => cap.acquire('k')))
  return asked.filter((permit) => permit !== undefined)
}

const pauses: [string, number][] = [
  ['than the socket timeout', SOCKET_TIMEOUT_MS + 50],
  ['than the deadline', DEADLINE_MS + 50],
]

describe.each(pauses)('a process that is stalled for longer %s', (_, pauseMs) => {
  test('is answered by the shared count, whether its call was sent before or after the stall', async () => {
    const { caps, permits, close } = await fleet(60_000, 5)
    for (const turnsBefore of [0, 1, 2, 3]) {
      const asked = acquired(caps[0], 20)
      for (let turn = 0; turn < turnsBefore; turn++) await new Promise((resolve) => setImmediate(resolve))
      blockProcess(pauseMs)
      expect(await asked).toEqual([])
    }
    expect(permits.map(({ lost }) => lost.aborted)).not.toContain(true)
    expect(await caps[1].count('k')).toBe(LIMIT)
    expect(seen).toEqual([])
    await close()
  })
})

describe('a process that is stalled for longer than its lease', () => {
  test('grants nothing until the shared count admits it', async () => {
    const { caps, permits, close } = await fleet(LEASE_MS, 5)
    const asked = acquired(caps[0], 20)
    blockProcess(1.25 * LEASE_MS)
    expect(await asked).toHaveLength(5)
    expect(permits.map(({ lost }) => lost.aborted)).not.toContain(false)
    expect(await caps[1].count('k')).toBe(LIMIT)
    await close()
  })

  test('does not rely on permits granted before the stall', async () => {
    const way = new FaultyRunner(scriptRunner(client), () => 'well')
    const pausing = redisInflight(way, { leaseMs: LEASE_MS, deadlineMs: DEADLINE_MS })
    const patient = redisInflight(others, { leaseMs: 60_000, deadlineMs: 10_000 })
    const caps = [pausing, patient].map((backend) => createInflightLimiter({ name: 'cap', limit: LIMIT, backend }))
    await caps[0].count('k')
    const asked = acquired(caps[0], 20)
    while (way.underWay === 0) await new Promise((resolve) => setImmediate(resolve))
    blockProcess(1.25 * LEASE_MS)
    const other = acquired(caps[1], 20)
    // the order of the two is unknown; together they hold each permit once
    expect((await asked).length + (await other).length).toBe(LIMIT)
    expect(await caps[1].count('k')).toBe(LIMIT)
    await Promise.all([pausing.close?.(), patient.close?.()])
  })
})

describe('a Redis that is down while a process is stalled', () => {
  test('delays no request for longer than two deadlines of running time', async () => {
    const silent = new FaultyRunner(scriptRunner(client), () => 'request lost')
    const backend = redisInflight(silent, { leaseMs: 60_000, deadlineMs: DEADLINE_MS })
    const cap = createInflightLimiter({ name: 'cap', limit: LIMIT, backend })
    const asked = acquired(cap, 20)
    blockProcess(2 * DEADLINE_MS)
    const from = performance.now()
    expect(await asked).toHaveLength(LIMIT)
    expect(performance.now() - from).toBeLessThan(3_000)
    await backend.close?.()
  })
})
