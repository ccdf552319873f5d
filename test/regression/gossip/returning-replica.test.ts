import { expect, test } from '@jest/globals'
import type { GossipNode } from '@sluice/gossip'
import { eachSeed, type SeededRandom } from '@sluice/testkit'
import { ReplicaCounts } from '../../../packages/gossip/src/counters/replica-counts.ts'
import { GossipFleet } from '../../gossip/gossip-fleet.ts'

const GONE_MS = 1_000
/** Only a few marks are kept, so that a name is forgotten after a few restarts. */
const MOST_MARKS = 3
const REPLICAS = 8

interface Replica {
  readonly node: GossipNode
  readonly counts: ReplicaCounts
}

/** Replicas of which one is cut off while all others are replaced, several times. */
class Fleet {
  readonly net: GossipFleet
  readonly replicas: Replica[] = []
  counted = 0

  constructor(random: SeededRandom) {
    this.net = new GossipFleet(random, { delayMs: 10 })
    for (let number = 0; number < REPLICAS; number++) this.start()
  }

  start(): void {
    const node = this.net.start()
    this.replicas.push({ node, counts: new ReplicaCounts(node, GONE_MS, MOST_MARKS) })
  }

  count({ counts }: Replica, units: number): void {
    counts.count('a', { epoch: 0, units: BigInt(units), isDeleted: false })
    this.counted += units
  }

  values(): readonly number[] {
    return this.replicas.map(({ counts }) => counts.entries.valueOf('a'))
  }

  /** Replaces the replicas from `first` on, one after the other, `times` times. */
  async replaceFrom(first: number, times: number): Promise<void> {
    for (let time = 0; time < times; time++) {
      const [old] = this.replicas.splice(first, 1)
      this.count(old, 1)
      // exchanges with replicas that are cut off wait for their timeout
      await this.net.run(3_000, 100)
      // every second one ends gracefully
      if (time % 2 === 0) old.counts.close()
      await this.net.run(500, 100)
      this.net.kill(old.node)
      this.start()
      this.net.join(this.replicas.at(-1)?.node as GossipNode, this.replicas[first].node)
      await this.net.run(2_000, 100)
    }
  }
}

test.each([
  ['2', 'was taken over and forgotten', 12],
  ['2', 'was taken over and is remembered', 3],
])('each of %s replicas that return together counts once after its name %s', async (away, _what, restarts) => {
  await eachSeed(1, async (random) => {
    const fleet = new Fleet(random)
    await fleet.net.run(3_000, 100)
    for (const replica of fleet.replicas) fleet.count(replica, 10)
    await fleet.net.run(2_000, 100)
    const returning = fleet.replicas.slice(0, Number(away))
    fleet.net.part((index) => index >= returning.length)
    // counted by no other replica
    for (const replica of returning) fleet.count(replica, 5)
    await fleet.replaceFrom(returning.length, restarts)
    fleet.net.heal()
    await fleet.net.run(10_000, 100)
    for (const replica of returning) fleet.count(replica, 1)
    await fleet.net.run(10_000, 100)
    expect(fleet.values()).toEqual(fleet.values().map(() => fleet.counted))
    await fleet.net.stop()
  })
})

test('a replica that has outlived all others keeps its units', async () => {
  await eachSeed(3, async (random) => {
    const fleet = new Fleet(random)
    await fleet.net.run(3_000, 100)
    for (const replica of fleet.replicas) fleet.count(replica, 10)
    await fleet.net.run(2_000, 100)
    for (const { node } of fleet.replicas.splice(1)) fleet.net.kill(node)
    fleet.count(fleet.replicas[0], 7)
    await fleet.net.run(20_000, 100)
    fleet.start()
    fleet.start()
    await fleet.net.run(60_000, 100)
    expect(fleet.values()).toEqual(fleet.values().map(() => fleet.counted))
    await fleet.net.stop()
  })
})
