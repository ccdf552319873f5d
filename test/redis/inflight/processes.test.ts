import { beforeEach, describe, expect, test } from '@jest/globals'
import { systemClock } from '@sluice/limiter-core/backend'
import type { RedisInflightOptions } from '@sluice/redis'
import { endedAfterEach } from '../../services/for-tests.ts'
import { type ChildNode, startNode } from '../../services/processes/child-node.ts'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'
import { eventually } from './fleet.ts'

type Member = ChildNode<typeof import('./children/member.ts')>

const LEASE_MS = 1_500
const OPTIONS: RedisInflightOptions = { leaseMs: LEASE_MS, deadlineMs: 50 }
// for tests in which Redis works: on a busy machine a process would otherwise count locally, and find nothing
const STEADY: RedisInflightOptions = { leaseMs: LEASE_MS, deadlineMs: 400 }
// for tests of counts: on a busy machine a process would otherwise count locally now and then
const PATIENT: RedisInflightOptions = { leaseMs: 60_000, deadlineMs: 10_000 }
const KEY = 'sluice:{k}:default/fleet/inflight@1'

const redis = redisClientForTests()
const members = endedAfterEach<Member>((member) => member.stop())

beforeEach(async () => {
  await redis.client.flushall()
})

/** Starts processes that share a cap. */
async function join(count: number, limit: number, options: RedisInflightOptions): Promise<void> {
  for (let started = 0; started < count; started++) members.push(startNode('redis/inflight/children/member.ts'))
  await Promise.all(members.map((member) => member.call('join', redis.server.url, limit, options)))
}

describe('four processes', () => {
  test('that each make 5,000 concurrent requests get exactly as many permits as the limit', async () => {
    await join(4, 1_000, PATIENT)
    const got = await Promise.all(members.map((member) => member.call('acquire', 5_000)))
    expect(got.reduce((sum, one) => sum + one, 0)).toBe(1_000)
    expect(await members[0].call('count')).toBe(1_000)
  })

  test('that work concurrently never hold more than the limit, and hold nothing at the end', async () => {
    await join(4, 7, PATIENT)
    const worked = await Promise.all(members.map((member) => member.call('work', 100, 20)))
    expect(worked.reduce((sum, { got }) => sum + got, 0)).toBeGreaterThan(100)
    const most = Math.max(...worked.map((one) => one.most))
    expect([most > 1, most <= 7]).toEqual([true, true])
    await eventually(storedPlaces, 0)
  })
})

describe('a killed process', () => {
  test('loses its permits exactly after one lease', async () => {
    await join(2, 4, STEADY)
    const [dying, other] = members
    expect([await dying.call('acquire', 3), await other.call('acquire', 9)]).toEqual([3, 1])
    const killedAt = systemClock.now()
    await dying.stop()
    let got = 0
    while (got === 0) got = await other.call('acquire', 9)
    const tookMs = systemClock.now() - killedAt
    expect(got).toBe(3)
    // its last heartbeat is at most a third of a lease old, or older on a busy machine
    expect(tookMs).toBeGreaterThan(LEASE_MS / 4)
    expect(tookMs).toBeLessThan(LEASE_MS + 5_000)
  })
})

describe('a stalled process', () => {
  test('learns after more than a lease that its permits are lost', async () => {
    await join(2, 4, STEADY)
    const [still, other] = members
    expect(await still.call('acquire', 3)).toBe(3)
    still.pause()
    await eventually(() => other.call('count'), 0)
    expect(await other.call('acquire', 9)).toBe(4)
    still.resume()
    await eventually(async () => (await still.call('seen')).lost, 3)
    // the releases of lost permits do not free permits of other processes
    expect(await still.call('release', 3)).toBe(0)
    expect([await still.call('count'), await other.call('count')]).toEqual([4, 4])
  })

  test('loses all permits even if they were not granted to others', async () => {
    await join(2, 4, STEADY)
    const [still, other] = members
    await still.call('acquire', 3)
    still.pause()
    await eventually(() => other.call('count'), 0)
    still.resume()
    await eventually(async () => (await still.call('seen')).lost, 3)
    expect(await still.call('acquire', 9)).toBe(4)
    await still.call('release', 3)
    expect(await other.call('count')).toBe(4)
  })

  test('keeps its permits if the stall is shorter than its lease', async () => {
    await join(2, 4, STEADY)
    const [still, other] = members
    await still.call('acquire', 3)
    still.pause()
    const until = systemClock.now() + LEASE_MS / 2
    await eventually(() => systemClock.now() > until, true)
    still.resume()
    const seen = await still.call('seen')
    expect([seen.lost, await other.call('count')]).toEqual([0, 3])
  })
})

describe('a server that is killed and restarts empty', () => {
  test('counts correctly again within a third of a lease, including releases and acquires in the meantime', async () => {
    await join(4, 20, OPTIONS)
    const held = await Promise.all(members.map((member) => member.call('acquire', 3)))
    expect(held).toEqual([3, 3, 3, 3])
    await redis.server.kill()
    await Promise.all(members.map((member) => member.call('release', 1)))
    expect(await members[0].call('acquire', 2)).toBe(2)
    await redis.server.restart()
    const backAt = systemClock.now()
    await eventually(storedPlaces, 10)
    expect(systemClock.now() - backAt).toBeLessThan(LEASE_MS / 3 + 1_000)
    const seen = await Promise.all(members.map((member) => member.call('seen')))
    expect(seen).toEqual(seen.map(() => ({ lost: 0, unhandled: [] })))
  })
})

describe('a server that stalls', () => {
  test('delays no request, and recovers', async () => {
    await join(2, 20, OPTIONS)
    await Promise.all(members.map((member) => member.call('acquire', 3)))
    redis.server.pause()
    const requestedAt = systemClock.now()
    expect(await members[0].call('acquire', 1)).toBe(1)
    expect(systemClock.now() - requestedAt).toBeLessThan(1_000)
    await Promise.all(members.map((member) => member.call('release', 2)))
    redis.server.resume()
    await eventually(storedPlaces, 3)
    const seen = await Promise.all(members.map((member) => member.call('seen')))
    expect(seen).toEqual(seen.map(() => ({ lost: 0, unhandled: [] })))
  })
})

async function storedPlaces(): Promise<number> {
  const fields = Object.values(await redis.client.hgetall(KEY))
  return fields.reduce((sum, field) => sum + Number(field.split(' ')[0]), 0)
}
