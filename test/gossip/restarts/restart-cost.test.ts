import { expect, test } from '@jest/globals'
import type { GossipNode } from '@sluice/gossip'
import { baseSeed, eachSeed, type SeededRandom, seededRandom } from '@sluice/testkit'
import { ReplicaCounts } from '../../../packages/gossip/src/counters/replica-counts.ts'
import { GossipFleet, type GossipNetwork } from '../gossip-fleet.ts'

const GONE_MS = 1_000
const MAX_MARKS = 10

interface Replica {
  readonly node: GossipNode
  readonly counts: ReplicaCounts
}

/** A fleet whose replicas count, and keep only a few marks of replicas that they took over. */
class MarkingFleet {
  readonly net: GossipFleet
  readonly replicas: Replica[]
  counted = 0
  /** Units that a replica counted while it was cut off. */
  cutOff = 0
  readonly #stepMs: number

  /** `stepMs`: how often messages are delivered. */
  constructor(random: SeededRandom, { stepMs = 100, ...network }: GossipNetwork & { readonly stepMs?: number } = {}) {
    this.net = new GossipFleet(random, network)
    this.#stepMs = stepMs
    this.replicas = Array.from({ length: 5 }, () => this.#started())
  }

  count({ counts }: Replica): void {
    counts.count('a', { epoch: 0, units: 1n, isDeleted: false })
    this.counted++
  }

  /** Ends a replica, every second one by a kill, and starts another one. */
  async restart(index: number, isKilled: boolean): Promise<void> {
    const [replica] = this.replicas.splice(index, 1)
    this.count(replica)
    await this.net.run(1_000, this.#stepMs)
    await this.net.until(() => this.replicas.some((one) => this.hasAll(one)), 20_000)
    if (!isKilled) replica.counts.close()
    await this.net.run(500, this.#stepMs)
    this.net.kill(replica.node)
    this.replicas.push(this.#started())
  }

  /** Runs until all replicas that are not cut off have the same units and have taken over every replica that is gone. */
  async settle(): Promise<void> {
    const isSettled = (one: Replica): boolean => {
      const { live, dead } = one.counts.replicas
      return live === this.replicas.length && dead === 0 && this.hasAll(one)
    }
    await this.net.until(() => this.replicas.every(isSettled), 20_000)
  }

  /** Whether a replica has all units, except for the units of a replica that is cut off. */
  hasAll({ counts }: Replica): boolean {
    return counts.entries.sumOf('a')?.units === BigInt(this.counted - this.cutOff)
  }

  #started(): Replica {
    const node = this.net.start()
    return { node, counts: new ReplicaCounts(node, GONE_MS, MAX_MARKS) }
  }
}

test('a restart costs no more after 200 earlier restarts than after 40', async () => {
  const random = seededRandom(baseSeed())
  const fleet = new MarkingFleet(random)
  const { net, replicas } = fleet
  await net.run(2_000, 100)
  const bytes: number[] = []
  for (let n = 0; n < 200; n++) {
    const before = net.bytes
    // the oldest replica has taken over the others
    await fleet.restart(n % 3 === 0 ? 0 : random.whole(replicas.length), n % 2 === 0)
    bytes.push(net.bytes - before)
  }
  await net.run(10_000, 100)
  for (const { counts } of replicas) {
    expect(counts.entries.valueOf('a')).toBe(fleet.counted)
    expect(counts.entries.entriesOf('a')).toBeLessThanOrEqual(5 + 10)
  }
  const mean = (from: number, to: number): number =>
    bytes.slice(from, to).reduce((sum, one) => sum + one, 0) / (to - from)
  const [early, late] = [mean(40, 80), mean(160, 200)].map(Math.round)
  process.stdout.write(`5 replicas: ${early} bytes for each of restarts 41 to 80, ${late} for 161 to 200\n`)
  expect(late).toBeLessThan(1.1 * early)
  await net.stop()
})

test('a replica that returns after all marks of its takeover are gone loses and duplicates no units', async () => {
  await eachSeed(3, async (random) => {
    const fleet = new MarkingFleet(random, { loss: 0.05, doubles: 0.05, delayMs: 20, stepMs: 10 })
    const { net, replicas } = fleet
    await net.run(3_000)
    for (const replica of replicas) fleet.count(replica)
    await net.run(1_000)
    // the oldest replica, or another one
    const [away] = replicas.splice(random.whole(2) * 3, 1)
    net.part((index) => net.nodes[index] === away.node)
    const countCutOff = (): void => {
      fleet.count(away)
      fleet.cutOff++
    }
    countCutOff()
    // one of the remaining replicas stays and keeps its memory
    const stays = replicas[1]
    for (let n = 0; n < 4 * MAX_MARKS; n++) {
      const index = n === 0 ? 0 : random.whole(4)
      if (replicas[index] !== stays) await fleet.restart(index, n % 3 > 0)
      // otherwise most of the replicas that vote may be killed before they are taken over
      await fleet.settle()
      if (n % 10 === 0) countCutOff()
    }
    net.heal()
    fleet.cutOff = 0
    replicas.push(away)
    await net.until(() => replicas.every((one) => fleet.hasAll(one)), 20_000)
    await net.run(10_000)
    for (const { counts } of replicas) expect(counts.entries.valueOf('a')).toBe(fleet.counted)
    await net.stop()
  })
})
