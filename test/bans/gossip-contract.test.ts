import { describe, test } from '@jest/globals'
import { gossipBackend } from '@sluice/gossip'
import { banContract, seededRandom } from '@sluice/testkit'
import { GossipFleet } from '../gossip/gossip-fleet.ts'

describe('gossipBackend of several replicas', () =>
  banContract({ describe, test }, async (processes) => {
    const fleet = new GossipFleet(seededRandom(1), { delayMs: 10, loss: 0.05 })
    const nodes = Array.from({ length: processes }, () => fleet.start())
    const backends = nodes.map((node) => gossipBackend(node, { burst: 1 }))
    await fleet.run(3_000)
    return { clock: fleet.clock, backends, isEventual: true, exchange: () => fleet.run(500), close: () => fleet.stop() }
  }))
