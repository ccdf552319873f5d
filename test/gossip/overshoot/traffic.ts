import { prometheusText } from '@sluice/fleet/metrics'
import type { SeededRandom } from '@sluice/testkit'
import { GossipFleet } from '../gossip-fleet.ts'
import { limitedReplica } from '../gossip-limits.ts'

export interface Traffic {
  /** Bytes per second that one replica sends and receives, on average. */
  readonly bytesASecond: number
  readonly largestMessage: number
  /** Keys of other replicas that the first replica knows. */
  readonly shared: number
}

/** Measures the traffic of a fleet in which each replica takes one unit per second for each key. */
export async function trafficOf(replicas: number, keys: number, random: SeededRandom): Promise<Traffic> {
  const fleet = new GossipFleet(random, { delayMs: 2 })
  const policy = { name: 'api', limit: 1_000, window: '1m', algorithm: 'sliding-window' } as const
  const all = Array.from({ length: replicas }, () => limitedReplica(fleet, policy, { floor: 0, nodes: replicas }))
  await fleet.run(2_000)
  const seen = { bytes: 0, largest: 0 }
  for (const { node } of all) {
    const answer = node.answer.bind(node)
    node.answer = (message) => {
      const answered = answer(message)
      seen.bytes += message.length + answered.length
      seen.largest = Math.max(seen.largest, message.length, answered.length)
      return answered
    }
  }
  const seconds = 5
  for (let step = 0; step < seconds * 10; step++) {
    for (const { limiter } of all) {
      for (let key = step % 10; key < keys; key += 10) limiter.take(`key ${key}`)
    }
    await fleet.run(100)
  }
  const text = prometheusText(all[0].backend)
  await fleet.stop()
  return {
    // every byte that one replica sends is received by another
    bytesASecond: (2 * seen.bytes) / seconds / replicas,
    largestMessage: seen.largest,
    shared: Number(/^sluice_gossip_limit_keys\{of="others"\} (\d+)$/m.exec(text)?.[1]),
  }
}
