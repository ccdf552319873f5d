import { expect, test } from '@jest/globals'
import { seededRandom } from '@sluice/testkit'
import { GossipFleet } from '../../gossip/gossip-fleet.ts'
import { limitedReplica } from '../../gossip/gossip-limits.ts'

const policy = { name: 'api', limit: 1_000, window: '10m', algorithm: 'fixed-window' } as const

// regression: each replica sent on a reset that it had received, dated later by the transit time, so busy replicas moved
// the reset forward forever, past the takes of a replica that was idle
test('units that a replica took after a reset count although other replicas stay busy', async () => {
  const fleet = new GossipFleet(seededRandom(1), { delayMs: 50 })
  const [one, other, idle] = Array.from({ length: 3 }, () => limitedReplica(fleet, policy))
  await fleet.run(3_000)
  for (const { limiter } of [one, other, idle]) limiter.take('a')
  await fleet.run(2_000)
  await one.limiter.reset('a')
  await fleet.run(2_000)
  let taken = 0
  for (let step = 0; step < 20; step++) {
    for (let take = 0; take < 10; take++) if (idle.limiter.take('a').allowed) taken++
    await fleet.run(100)
  }
  expect(taken).toBeGreaterThan(100)
  let busy = 0
  for (let step = 0; step < 400; step++) {
    for (const { limiter } of [one, other]) if (limiter.take('a').allowed) busy++
    await fleet.run(500)
  }
  await fleet.run(2_000)
  expect(1_000 - one.limiter.peek('a').binding.remaining).toBeGreaterThanOrEqual(taken + busy)
  await fleet.stop()
})
