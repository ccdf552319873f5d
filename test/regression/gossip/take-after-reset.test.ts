import { expect, test } from '@jest/globals'
import { eachSeed } from '@sluice/testkit'
import { GossipFleet } from '../../gossip/gossip-fleet.ts'
import { limitedReplica } from '../../gossip/gossip-limits.ts'

const policy = { name: 'api', limit: 100, window: '10m', algorithm: 'sliding-window' } as const

test('units that a replica takes right after its reset count in all replicas, whatever the delay of each message', () =>
  eachSeed(20, async (random) => {
    const fleet = new GossipFleet(random, { delayMs: 80, loss: 0.2 })
    const replicas = Array.from({ length: 3 }, () => limitedReplica(fleet, policy, { floor: 0 }))
    await fleet.run(3_000)
    for (const { limiter } of replicas) limiter.take('a', 10)
    await fleet.run(3_000)
    const reset = replicas[0].limiter.reset('a')
    await fleet.run(10)
    await reset
    replicas[0].limiter.take('a', 7)
    await fleet.run(4_000)
    expect(replicas.map(({ limiter }) => limiter.peek('a').binding.remaining)).toEqual([93, 93, 93])
    await fleet.stop()
  }))
