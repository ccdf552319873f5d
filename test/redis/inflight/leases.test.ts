import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { isPromise, type MaybePromise, type Permit } from '@sluice/limiter-core/backend'
import { scriptRunner } from '@sluice/redis'
import { FakeClock } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { type Fate, FaultyRunner } from './faulty-runner.ts'
import { Fleet } from './fleet.ts'

const LEASE_MS = 9_000
const CAP = { name: 'leases', limit: 5 }

let server: RedisServer
let fleet: Fleet
let client: Redis
let made = 0

beforeAll(async () => {
  server = await startRedis()
  fleet = new Fleet(server.port)
  client = await fleet.client()
})

afterAll(async () => {
  await fleet.close()
  await server.stop()
})

/** Two processes with one clock. The connection of the first can be broken. */
function scene() {
  const time = new FakeClock({ nowMs: 1_000_000 })
  const way: { fate: Fate } = { fate: 'well' }
  const runners = [
    new FaultyRunner(scriptRunner(client), () => way.fate),
    new FaultyRunner(scriptRunner(client), () => 'well'),
  ]
  const prefix = `leases-${made++}`
  const options = { clock: time, serverTime: () => time.now(), prefix, leaseMs: LEASE_MS }
  const [a, b] = runners.map((runner) => fleet.backend(runner, options))
  const quiet = async (): Promise<void> => {
    for (let calm = 0; calm < 3; ) {
      await new Promise((resolve) => setImmediate(resolve))
      calm = runners.some(({ underWay }) => underWay > 0) ? 0 : calm + 1
    }
  }
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 40) {
      time.advance(Math.min(left, 40))
      await quiet()
    }
  }
  const take = async (backend: typeof a, times: number): Promise<Permit[]> => {
    const permits: Permit[] = []
    for (let one = 0; one < times; one++) {
      const answer = await settled(backend.acquire('k', { cap: CAP }))
      if ('release' in answer) permits.push(answer)
    }
    return permits
  }
  const settled = async <T>(answer: MaybePromise<T>): Promise<T> => {
    let open = isPromise(answer)
    Promise.resolve(answer).then(() => {
      open = false
    })
    await quiet()
    while (open) await pass(40)
    return answer
  }
  const counted = (): Promise<number> => settled(b.count?.('k', CAP) ?? -1)
  return { way, a, b, pass, take, counted }
}

describe('a disconnected process', () => {
  test('keeps all permits within its lease: all are counted again, even above the limit', async () => {
    const { way, a, b, pass, take, counted } = scene()
    const before = await take(a, 3)
    way.fate = 'refused'
    expect(await take(b, 9)).toHaveLength(2)
    const meanwhile = await take(a, 9)
    expect(meanwhile).toHaveLength(2)
    way.fate = 'well'
    await pass(LEASE_MS / 3)
    expect(await counted()).toBe(7)
    expect([...before, ...meanwhile].map(({ lost }) => lost.aborted)).not.toContain(true)
    // no request is admitted until the count is below the limit again
    for (const permit of before.slice(0, 2)) permit.release()
    await pass(40)
    expect(await take(b, 1)).toEqual([])
    before[2].release()
    await pass(40)
    expect(await take(b, 9)).toHaveLength(1)
  })

  test('loses after its lease the permits that were granted to others, the newest first', async () => {
    const { way, a, b, pass, take, counted } = scene()
    const permits = await take(a, 4)
    way.fate = 'refused'
    await pass(LEASE_MS + 40)
    expect(permits.map(({ lost }) => lost.aborted)).toEqual([false, false, false, false])
    const taken = await take(b, 3)
    expect(taken).toHaveLength(3)
    way.fate = 'well'
    await pass(LEASE_MS / 3)
    expect(permits.map(({ lost }) => lost.aborted)).toEqual([false, false, true, true])
    expect(await counted()).toBe(5)
    // the release of a lost permit does not free the permit of another process
    permits[3].release()
    await pass(40)
    expect(await counted()).toBe(5)
    for (const permit of [...permits, ...taken]) permit.release()
    await pass(40)
    expect(await counted()).toBe(0)
  })

  test('keeps after its lease the permits that were not granted to others', async () => {
    const { way, a, pass, take, counted } = scene()
    const permits = await take(a, 4)
    way.fate = 'refused'
    await pass(3 * LEASE_MS)
    way.fate = 'well'
    await pass(LEASE_MS / 3)
    expect(await counted()).toBe(4)
    expect(permits.map(({ lost }) => lost.aborted)).toEqual([false, false, false, false])
  })
})

describe('a heartbeat', () => {
  test('keeps a permit for as long as it is held', async () => {
    const { a, b, pass, take, counted } = scene()
    const [permit] = await take(a, 1)
    await pass(5 * LEASE_MS)
    expect([await counted(), permit.lost.aborted]).toEqual([1, false])
    expect(await take(b, 9)).toHaveLength(4)
  })

  test('reports a release that was lost', async () => {
    const { way, a, pass, take, counted } = scene()
    const [permit] = await take(a, 1)
    way.fate = 'request lost'
    permit.release()
    await pass(80)
    way.fate = 'well'
    expect(await counted()).toBe(1)
    await pass(LEASE_MS / 3)
    expect(await counted()).toBe(0)
  })
})
