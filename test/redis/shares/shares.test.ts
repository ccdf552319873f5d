import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createInflightLimiter, type Permit } from '@sluice/limiter-core'
import { isPromise } from '@sluice/limiter-core/backend'
import { adaptive } from '@sluice/overload'
import { redisInflight, scriptRunner } from '@sluice/redis'
import { Warnings } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { inflightShares } from '../../../packages/redis/src/lua/scripts.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { FaultyRunner } from '../inflight/faulty-runner.ts'
import { LEASE_MS, LONGEST_MS, type Member, ShareFleet } from './share-fleet.ts'

const MAX = 16
const warnings = new Warnings()

let server: RedisServer
let client: Redis
let fleet: ShareFleet

beforeAll(async () => {
  warnings.listen()
  server = await startRedis()
  client = server.client()
})

beforeEach(() => {
  fleet = new ShareFleet(client, { min: MAX, max: MAX, initial: MAX })
})

afterEach(async () => {
  for (const { permits } of fleet.running) for (const permit of permits) permit.release()
  await fleet.close()
})

afterAll(async () => {
  await server.stop()
  warnings.stop()
})

/** Starts processes, each of which has an equal share after a short time. */
async function join(count: number): Promise<Member[]> {
  const members = Array.from({ length: count }, () => fleet.join())
  await demand(members, 500)
  return members
}

/** Lets all processes request more than there is for some time. Work is short. */
function demand(members: readonly Member[], ms: number): Promise<void> {
  return fleet.pass(ms, 10, () => {
    for (const member of members) for (let request = 0; request < MAX; request++) void fleet.hold(member, 15)
  })
}

const sharesOf = (members: readonly Member[]): number[] => members.map(({ cap }) => cap.limit)

describe('a request', () => {
  test('is decided in this process, without a call, once the share is known', async () => {
    const member = fleet.join()
    const first = member.cap.acquire()
    expect(isPromise(first)).toBe(true)
    await fleet.quiet()
    await fleet.pass(10)
    const permits = [await first]
    const { calls } = fleet
    for (let request = 0; request < 1_000; request++) {
      const permit = member.cap.acquire()
      expect(isPromise(permit)).toBe(false)
      permits.push(permit as Permit | undefined)
    }
    expect([fleet.calls, permits.filter(Boolean).length]).toEqual([calls, MAX])
    for (const permit of permits) permit?.release()
  })

  test('of a process that starts without Redis waits for the deadline, and gets one of few places', async () => {
    const member = fleet.join()
    member.fate = 'request lost'
    const asked = [member.cap.acquire(), member.cap.acquire()]
    await fleet.pass(60)
    const permits = await Promise.all(asked)
    expect(permits.filter(Boolean)).toHaveLength(1)
    await fleet.pass(LEASE_MS + 1_000, 100)
    const later = Array.from({ length: MAX }, () => member.cap.acquire() as Permit | undefined)
    // `min` of the limit
    expect(later.filter(Boolean)).toHaveLength(MAX - 1)
    for (const permit of [...permits, ...later]) permit?.release()
  })
})

describe('shares', () => {
  test('are equal while all processes want more', async () => {
    const members = await join(4)
    expect(sharesOf(members)).toEqual([4, 4, 4, 4])
  })

  test('of processes that leave go to the others at once, and nothing is kept for them', async () => {
    const members = await join(4)
    await fleet.pass(20)
    await fleet.leave(members[0])
    await fleet.leave(members[1])
    await demand(members.slice(2), 300)
    expect(sharesOf(members.slice(2))).toEqual([8, 8])
  })

  test('of a process that crashed go to the others within its lease, except for half an equal share', async () => {
    const members = await join(4)
    fleet.kill(members[0])
    await demand(members.slice(1), LEASE_MS / 2)
    expect(sharesOf(members.slice(1))).toEqual([4, 4, 4])
    await demand(members.slice(1), LEASE_MS / 2 + 200)
    expect(sharesOf(members.slice(1)).reduce((sum, one) => sum + one, 0)).toBe(MAX - 2)
  })

  test('reach every process in turn if there are more processes than places', async () => {
    fleet = new ShareFleet(client, { min: 2, max: 2, initial: 2 })
    const members = Array.from({ length: 6 }, () => fleet.join())
    const done = members.map(() => 0)
    // a turn of a second for two of six processes, and the time in which the places move
    await fleet.pass(8_000, 10, async () => {
      for (const [index, member] of members.entries()) {
        void fleet.hold(member, 15).then((isHeld) => {
          if (isHeld) done[index] += 1
        })
      }
      await fleet.quiet()
      expect(fleet.held).toBeLessThanOrEqual(2)
    })
    expect(Math.min(...done)).toBeGreaterThan(20)
  })
})

describe('while Redis does not answer', () => {
  test('all processes keep their shares for most of a lease, then half of them, and get them back', async () => {
    const members = await join(4)
    for (const member of members) member.fate = 'refused'
    await demand(members, LEASE_MS / 2)
    expect(sharesOf(members)).toEqual([4, 4, 4, 4])
    await demand(members, LEASE_MS)
    expect(sharesOf(members)).toEqual([2, 2, 2, 2])
    await demand(members, 5 * LEASE_MS)
    expect(sharesOf(members)).toEqual([2, 2, 2, 2])
    for (const member of members) member.fate = undefined
    await demand(members, 1_500)
    expect(sharesOf(members)).toEqual([4, 4, 4, 4])
  })

  test('a process that has no requests for a time keeps its reserve', async () => {
    const members = await join(4)
    for (const member of members) member.fate = 'refused'
    await fleet.pass(3 * LEASE_MS, 100)
    await demand(members, 200)
    expect(sharesOf(members)).toEqual([2, 2, 2, 2])
  })

  test('one process that is cut off has half a share, and the others get the rest', async () => {
    const members = await join(4)
    members[0].fate = 'request lost'
    await demand(members, 2 * LEASE_MS)
    const shares = sharesOf(members)
    expect([shares[0], shares.reduce((sum, one) => sum + one, 0)]).toEqual([2, MAX])
    members[0].fate = undefined
    await demand(members, 1_500)
    expect(sharesOf(members)).toEqual([4, 4, 4, 4])
  })

  test('work that a process began before it was cut off ends before others take its places', async () => {
    const members = await join(4)
    await fleet.pass(20)
    members[0].fate = 'refused'
    let most = 0
    await fleet.pass(2 * LEASE_MS, 10, () => {
      for (let request = 0; request < MAX; request++) {
        void fleet.hold(members[0], LONGEST_MS - 20)
        for (const member of members.slice(1)) void fleet.hold(member, 200)
      }
      most = Math.max(most, fleet.held)
    })
    expect(most).toBe(MAX)
  })

  test('the first process that returns gets no more until the others have returned, or a lease has passed', async () => {
    const members = await join(4)
    for (const member of members) member.fate = 'refused'
    await demand(members, 2 * LEASE_MS)
    const [first, second, ...others] = members
    first.fate = undefined
    second.fate = undefined
    await demand(members, LEASE_MS - 500)
    expect(sharesOf(members)).toEqual([2, 2, 2, 2])
    await demand(members, 2_000)
    // the reserves of the others stay
    expect(sharesOf(members)).toEqual([6, 6, 2, 2])
    for (const member of others) member.fate = undefined
    await demand(members, 1_500)
    expect(sharesOf(members)).toEqual([4, 4, 4, 4])
  })

  test('a process that was suspended for longer does not use the share that it had', async () => {
    const members = await join(4)
    await fleet.pass(20)
    members[0].clock.stop()
    await demand(members.slice(1), 2 * LEASE_MS)
    const permits = Array.from({ length: 4 }, () => members[0].cap.acquire() as Permit | undefined)
    expect(permits.filter(Boolean)).toHaveLength(2)
    for (const permit of permits) permit?.release()
    members[0].clock.wake()
    await demand(members, 1_500)
    expect(sharesOf(members)).toEqual([4, 4, 4, 4])
  })
})

test('a Redis that has lost its data gives no process more than it had until a lease has passed', async () => {
  const members = await join(2)
  await fleet.pass(20)
  for (let request = 0; request < 8; request++) void fleet.hold(members[0], 60_000)
  await fleet.pass(20)
  await fleet.loseData()
  await demand(members.slice(1), LEASE_MS - 1_000)
  expect(sharesOf(members)).toEqual([8, 8])
  // a process that joins in this time gets none
  const late = fleet.join()
  await demand([members[1], late], 500)
  expect([late.cap.limit, fleet.held <= MAX]).toEqual([0, true])
  await demand([members[1], late], LEASE_MS)
  // the first one still holds the rest
  expect([late.cap.limit > 0, members[1].cap.limit + late.cap.limit]).toEqual([true, MAX - 8])
})

test('a process without requests for a lease leaves, and has no timers', async () => {
  const [member] = await join(1)
  await fleet.pass(20)
  expect(fleet.time.pending).toBeGreaterThan(0)
  await fleet.pass(LEASE_MS + 1_100, 100)
  expect(fleet.time.pending).toBe(0)
  const { calls } = fleet
  await fleet.pass(LEASE_MS, 100)
  expect(fleet.calls).toBe(calls)
  const again = fleet.hold(member, 10)
  await fleet.pass(20)
  expect(await again).toBe(true)
})

test('keys that are used while Redis fails are forgotten', async () => {
  const options = { clock: fleet.time, serverTime: () => fleet.time.now(), prefix: 'failing', leaseMs: LEASE_MS }
  let calls = 0
  const runner = new FaultyRunner(scriptRunner(client), () => {
    calls++
    return 'refused'
  })
  const backend = redisInflight(runner, { ...options, deadlineMs: 50 })
  const limit = adaptive({ min: 2, max: 2, maxKeys: 10 })
  const cap = createInflightLimiter({ name: 'keyed', limit, backend, clock: fleet.time })
  for (let key = 0; key < 200; key++) {
    const permit = cap.acquire(`key ${key}`)
    await fleet.pass(60)
    ;(await permit)?.release()
  }
  await fleet.pass(2_100, 100)
  const before = calls
  await fleet.pass(1_100, 100)
  // of 200 keys, 7 calls would report at most 32 each
  expect(calls - before).toBeLessThanOrEqual(5)
  await cap.close()
  await backend.close?.()
})

test('a report that arrives after a later one does nothing', async () => {
  const report = async (number: number, wanted: number): Promise<unknown> => {
    // applies and holds no places, has no long work and wants some; it does not leave, and knows no limit
    const args = ['', LEASE_MS, 'p', number, 0, 0, 0, wanted, 0, 0, 0, 0, 8, 8, '']
    const reply = (await client.eval(inflightShares.text, 1, 'stale', ...args)) as unknown[]
    return reply[2]
  }
  expect([await report(2, 1), await client.hget('stale', 'p')]).toEqual([8, expect.stringMatching(/^2 8 8 1 /)])
  expect(String(await report(1, 5))).toMatch(/^STALE/)
  expect(await client.hget('stale', 'p')).toMatch(/^2 8 8 1 /)
})

test('each key has its own limit, and a limited number of keys are remembered', async () => {
  const member = fleet.join()
  const options = { clock: fleet.time, serverTime: () => fleet.time.now(), prefix: 'keys', leaseMs: LEASE_MS }
  const backend = redisInflight(client, options)
  const limit = adaptive({ min: 2, max: 2, maxKeys: 3 })
  const cap = createInflightLimiter({ name: 'keyed', limit, backend, clock: fleet.time })
  for (const key of ['a', 'b', 'c', 'd', 'e']) {
    const asked = [cap.acquire(key), cap.acquire(key), cap.acquire(key)]
    for (let turn = 0; turn < 20; turn++) await fleet.pass(1)
    const permits = await Promise.all(asked)
    expect(permits.filter(Boolean)).toHaveLength(2)
    for (const permit of permits) permit?.release()
  }
  for (let turn = 0; turn < 50; turn++) await fleet.pass(10)
  const stored = await client.keys('keys:*')
  const members = await Promise.all(stored.map((key) => client.hlen(key)))
  // the limit of a key is kept when its processes have left
  expect([...members].sort()).toEqual([1, 1, 2, 2, 2])
  await cap.close()
  await backend.close?.()
  await fleet.leave(member)
})
