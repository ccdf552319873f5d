import { expect, test } from '@jest/globals'
import type { SyncOptions } from '@sluice/fleet/sync'
import type { Decision, Limiter, PolicyInput } from '@sluice/limiter-core'
import { eachSeed, type SeededRandom, SyncedFleet, seededRandom } from '@sluice/testkit'
import { GossipFleet } from '../../gossip/gossip-fleet.ts'
import { limitedReplica } from '../../gossip/gossip-limits.ts'

interface Fleet {
  readonly limiters: readonly Pick<Limiter<Decision>, 'take' | 'peek'>[]
  pass(ms: number): Promise<unknown>
  close(): Promise<void>
}

function synced(random: SeededRandom, nodes: number, policy: PolicyInput, sync: SyncOptions): Fleet {
  const fleet = new SyncedFleet({ nodes, policy, random, network: { delayMs: 1 }, sync })
  const limiters = fleet.nodes.map(({ limiter }) => limiter)
  return { limiters, pass: (ms) => fleet.pass(ms), close: () => fleet.close() }
}

async function gossiping(
  random: SeededRandom,
  nodes: number,
  policy: PolicyInput,
  options: SyncOptions,
): Promise<Fleet> {
  const fleet = new GossipFleet(random, { delayMs: 10 })
  const replicas = Array.from({ length: nodes }, () => limitedReplica(fleet, policy, options))
  await fleet.run(2_000)
  return {
    limiters: replicas.map(({ limiter }) => limiter),
    pass: (ms) => fleet.run(ms),
    close: () => fleet.stop(),
  }
}

/** Returns how many of `count` takes in one turn are admitted. */
function burst(limiter: Pick<Limiter<Decision>, 'take'>, count: number): number {
  return Array.from({ length: count }, () => limiter.take('a')).filter(({ allowed }) => allowed).length
}

function policyOf(random: SeededRandom): PolicyInput & { readonly limit: number } {
  const form = random.pick([
    { algorithm: 'fixed-window' },
    { algorithm: 'sliding-window' },
    { algorithm: 'sliding-window', slices: 6 },
    { algorithm: 'token-bucket' },
    { algorithm: 'gcra', burst: 100 },
  ] as const)
  return { name: 'api', window: '1h', limit: random.pick([10, 37, 100, 1_000]), ...form }
}

/** Units that a key has when nothing of it is used. */
function capacityOf({ limit, burst: most = limit }: PolicyInput & { readonly limit: number }): number {
  return most
}

test.each([
  [10, 6],
  [10, 10],
  [100, 51],
  [100, 100],
])('with the default options, a limit of %d admits %d requests at once', async (limit, count) => {
  const policy = { name: 'api', limit, window: '1m' } as const
  const fleet = synced(seededRandom(1), 3, policy, {})
  expect(burst(fleet.limiters[0], count)).toBe(count)
  await fleet.close()
})

test('a client that stays below its limit is never denied, however it sends its requests', () =>
  eachSeed(40, async (random) => {
    const policy = policyOf(random)
    const nodes = 1 + random.whole(6)
    const isGossip = policy.algorithm !== 'token-bucket' && policy.algorithm !== 'gcra' && random.next() < 0.4
    const options = { count: random.pick(['admitted', 'all'] as const), floor: random.pick([0, 10]) }
    const fleet = await (isGossip ? gossiping : synced)(random, nodes, policy, {
      ...options,
      ...(random.next() < 0.5 && { nodes }),
    })
    let left = capacityOf(policy)
    while (left > 0) {
      const count = 1 + random.whole(left)
      expect(burst(random.pick(fleet.limiters), count)).toBe(count)
      left -= count
      await fleet.pass(random.pick([0, 1, 20, 200, 2_000]))
    }
    await fleet.close()
  }))

// the bound of docs/global-limiter.md
test('in one turn, each process admits at most burst * limit, and at most what its last reply left', () =>
  eachSeed(40, async (random) => {
    const policy = policyOf(random)
    const nodes = 1 + random.whole(6)
    const part = random.pick([0.1, 0.25, 1])
    const capacity = capacityOf(policy)
    const most = Math.max(1, Math.floor(part * capacity))
    const sync = { burst: part, nodes: Math.min(nodes, policy.limit), floor: random.pick([0, 10]) }
    const fleet = synced(random, nodes, policy, sync)
    const { limiters } = fleet
    // no process has seen the key
    expect(limiters.map((limiter) => burst(limiter, 2 * capacity))).toEqual(limiters.map(() => most))
    for (let turn = 0; turn < 3; turn++) {
      await fleet.pass(random.pick([100, 3_000]))
      const left = limiters.map((limiter) => limiter.peek('a').binding.remaining)
      const passed = limiters.map((limiter) => burst(limiter, 2 * capacity))
      for (const [index, units] of passed.entries()) expect(units).toBeLessThanOrEqual(Math.min(most, left[index]))
    }
    // with a reply after the last burst, each process has the counts of all others
    await fleet.pass(3_000)
    for (const limiter of limiters) limiter.take('a')
    await fleet.pass(200)
    const used = nodes * most
    // buckets drain less than 4 units meanwhile
    if (used >= capacity + 4) expect(limiters.map((limiter) => burst(limiter, 1))).toEqual(limiters.map(() => 0))
    await fleet.close()
  }))
