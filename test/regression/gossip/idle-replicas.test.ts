import { describe, expect, test } from '@jest/globals'
import { eachSeed, seededRandom } from '@sluice/testkit'
import { GossipFleet } from '../../gossip/gossip-fleet.ts'
import { type LimitedReplica, limitedReplica } from '../../gossip/gossip-limits.ts'

const LIMIT = 100
const MANY = 2 * LIMIT
const policy = { name: 'api', limit: LIMIT, window: '1m', algorithm: 'fixed-window' } as const

/** Takes `count` units in one turn. Returns how many were admitted. */
function burst({ limiter }: LimitedReplica, count = MANY): number {
  return Array.from({ length: count }, () => limiter.take('a')).filter(({ allowed }) => allowed).length
}

/** Runs until a window begins, so that no window ends during a test. */
async function started(fleet: GossipFleet, replicas: readonly LimitedReplica[]): Promise<void> {
  await fleet.run(3_000)
  replicas[0].limiter.take('clock')
  await fleet.run(1_000)
  await fleet.run(replicas[0].limiter.peek('clock').binding.resetAfterMs + 20)
}

describe('a replica that knows the usage of other replicas', () => {
  test.each(['fixed-window', 'sliding-window'] as const)(
    'admits nothing of a key that others have used up, in its first turn after a pause: %s',
    async (algorithm) => {
      const fleet = new GossipFleet(seededRandom(1), { delayMs: 10 })
      const replicas = Array.from({ length: 6 }, () => limitedReplica(fleet, { ...policy, algorithm }))
      await started(fleet, replicas)
      let admitted = 0
      for (const replica of replicas) admitted += burst(replica, 1)
      await fleet.run(1_000)
      for (let ms = 0; ms < 4_000; ms += 20) {
        admitted += burst(replicas[0], 1)
        await fleet.run(20)
      }
      await fleet.run(5_000)
      for (const replica of replicas) admitted += burst(replica)
      expect(admitted).toBe(LIMIT)
      await fleet.stop()
    },
  )

  test('admits nothing of such a key that it takes from for the first time', async () => {
    const fleet = new GossipFleet(seededRandom(1), { delayMs: 10 })
    const replicas = Array.from({ length: 3 }, () => limitedReplica(fleet, policy))
    await started(fleet, replicas)
    expect(burst(replicas[0])).toBe(LIMIT)
    await fleet.run(2_000)
    expect(burst(replicas[1])).toBe(0)
    expect(replicas[2].limiter.peek('a').binding.remaining).toBe(0)
    await fleet.stop()
  })

  test('reports it in a peek, without a take of its own', async () => {
    const fleet = new GossipFleet(seededRandom(1), { delayMs: 10 })
    const replicas = Array.from({ length: 3 }, () => limitedReplica(fleet, policy, { floor: 0 }))
    await started(fleet, replicas)
    for (const replica of replicas) burst(replica, 1)
    await fleet.run(1_000)
    burst(replicas[0], 38)
    await fleet.run(2_000)
    expect(replicas.map(({ limiter }) => limiter.peek('a').binding.remaining)).toEqual([59, 59, 59])
    await fleet.stop()
  })
})

/** Options and policies in which a count may be read by another way. */
const FORMS = [
  {},
  { algorithm: 'sliding-window' },
  { algorithm: 'sliding-window', slices: 6 },
  { plans: true },
  { ban: { after: 1_000, within: '1m', for: '1m' } },
  { morePolicies: true },
] as const

test('bursts in one turn admit at most what no replica has received, whatever the options', () =>
  eachSeed(12, async (random) => {
    const fleet = new GossipFleet(random, { delayMs: 5, loss: 0.05, doubles: 0.05 })
    const { plans, morePolicies, ...form } = { plans: false, morePolicies: false, ...random.pick(FORMS) }
    const floor = random.pick([0, 10])
    const count = 2 + random.whole(4)
    const input = { ...policy, ...form } as typeof policy
    const replicas = Array.from({ length: count }, () => limitedReplica(fleet, input, { floor, nodes: count }))
    await started(fleet, replicas)
    let admitted = 0
    for (let turn = 0; turn < 6; turn++) {
      // the replicas of one turn cannot have received the units of each other
      const bursting = replicas.filter(() => random.next() < 0.4)
      const left = LIMIT - admitted
      const passed = bursting.map((replica) => burst(replica, 1 + random.whole(MANY)))
      admitted += passed.reduce((sum, one) => sum + one, 0)
      // units that processes have not reported: at most 1 % of the limit
      const held = floor > 0 ? LIMIT / 100 : 0
      const most = Math.max(0, left + held) * bursting.length
      expect(passed.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(most)
      await fleet.run(2_000)
    }
    expect(plans || morePolicies || admitted > 0).toBe(true)
    await fleet.stop()
  }))
