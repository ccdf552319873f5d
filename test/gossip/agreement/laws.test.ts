import { expect, test } from '@jest/globals'
import { baseSeed, numberOfRuns, seededRandom } from '@sluice/testkit'
import fc from 'fast-check'
import { amountJson, amountOf } from '../../../packages/gossip/src/counters/counter-amount.ts'
import { EntryTable } from '../../../packages/gossip/src/counters/entry-table.ts'
import { itemBytes } from '../../../packages/gossip/src/exchange/gossip-message.ts'
import { type LogPart, ReplicaTable } from '../../../packages/gossip/src/log/replica-table.ts'
import { CountingFleet } from './counting-fleet.ts'

/** The entries of a replica, and the usage table that contains them. */
function replica(name: string): { readonly entries: EntryTable; readonly table: ReplicaTable } {
  const entries = new EntryTable()
  const table = new ReplicaTable(name, 0, {
    received: (from, { key, value }) => {
      const amount = amountOf(value)
      if (amount) entries.put(from, key, amount, 0)
      return true
    },
    missed: () => {},
    acceptedClock: () => Number.POSITIVE_INFINITY,
    mayIntroduce: () => true,
    expiresByAge: () => false,
    belongs: () => true,
    ignored: () => {},
  })
  return { entries, table }
}

const ids = fc.constantFrom('a', 'b', 'c')
const writes = fc.array(fc.record({ writer: fc.nat(2), id: ids, units: fc.bigInt({ min: -9n, max: 9n }) }), {
  maxLength: 40,
})

/**
 * Creates the log parts that three writers sent over time, and the expected sums. Each part ends where the log ended
 * when it was sent.
 */
function partsOf(given: readonly { readonly writer: number; readonly id: string; readonly units: bigint }[]): {
  readonly parts: readonly LogPart[]
  readonly sums: ReadonlyMap<string, bigint>
} {
  const writers = ['one', 'two', 'three'].map(replica)
  const own = writers.map(() => new Map<string, bigint>())
  const sums = new Map<string, bigint>()
  const parts: LogPart[] = []
  for (const { writer, id, units } of given) {
    sums.set(id, (sums.get(id) ?? 0n) + units)
    own[writer].set(id, (own[writer].get(id) ?? 0n) + units)
    const value = amountJson({ epoch: 0, units: own[writer].get(id) ?? 0n, isDeleted: false })
    const { table } = writers[writer]
    table.write({ key: id, value, bytes: itemBytes(id, value) }, 0)
    parts.push(...table.partsBehind(new Map(), { to: 'another', now: 0, maxBytes: 1e6, mayCut: false }))
  }
  return { parts, sums }
}

function valuesAfter(parts: readonly LogPart[], name = 'reader'): readonly bigint[] {
  const { entries, table } = replica(name)
  for (const part of parts) table.merge([part], 0)
  return ['a', 'b', 'c'].map((id) => entries.sumOf(id)?.units ?? 0n)
}

test('entries merge to the same result in any order, in any groups, and any number of times', () => {
  const cases = writes.chain((given) => {
    const { parts, sums } = partsOf(given)
    const last = ['one', 'two', 'three'].flatMap((name) => parts.findLast((part) => part.replica === name) ?? [])
    const order = fc.shuffledSubarray([...parts, ...parts])
    return fc.record({ sums: fc.constant(sums), last: fc.constant(last), one: order, other: order })
  })
  fc.assert(
    fc.property(cases, ({ sums, last, one, other }) => {
      const expected = ['a', 'b', 'c'].map((id) => sums.get(id) ?? 0n)
      // after any losses, the last part of each writer is enough, and older parts change nothing
      expect(valuesAfter([...one, ...last, ...other])).toEqual(expected)
      expect(valuesAfter([...last, ...one, ...last])).toEqual(expected)
      // through another replica
      const between = replica('between')
      for (const part of [...other, ...last]) between.table.merge([part], 0)
      const sent = between.table.partsBehind(new Map(), { to: 'another', now: 0, maxBytes: 1e6, mayCut: false })
      expect(valuesAfter([...one, ...sent])).toEqual(expected)
    }),
    { seed: baseSeed() },
  )
})

test('a part that starts after a gap changes nothing, since the items in between are missing', () => {
  const [writer, reader] = ['writer', 'reader'].map(replica)
  const write = (key: string): void => {
    const value = amountJson({ epoch: 0, units: 1n, isDeleted: false })
    writer.table.write({ key, value, bytes: itemBytes(key, value) }, 0)
  }
  const limits = { to: 'another', now: 0, maxBytes: 1e6, mayCut: false }
  write('a')
  // like a reader that already had the first item
  const wanted = new Map([['writer', 1]])
  write('b')
  reader.table.merge(writer.table.partsBehind(wanted, limits), 0)
  expect([reader.table.logOf('writer'), reader.entries.size]).toEqual([undefined, 0])
  reader.table.merge(writer.table.partsBehind(new Map(), limits), 0)
  expect(reader.entries.size).toBe(2)
})

type Step =
  | { readonly kind: 'count'; readonly at: number; readonly units: number }
  | { readonly kind: 'run'; readonly ms: number }
  | { readonly kind: 'cut'; readonly sides: number }
  | { readonly kind: 'heal' }
  | { readonly kind: 'leave' | 'kill'; readonly at: number }
  | { readonly kind: 'start' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('count' as const),
      at: fc.nat(9),
      units: fc.integer({ min: -5, max: 9 }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('run' as const), ms: fc.constantFrom(100, 500, 3_000) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cut' as const), sides: fc.nat(31) }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'heal' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('leave' as const, 'kill' as const), at: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'start' as const }) },
)

/** Ends a replica after all others have its units, so that no units may be lost. */
async function ended(fleet: CountingFleet, kind: 'leave' | 'kill', at: number, counted: number): Promise<void> {
  const gone = fleet.replicas[at % fleet.replicas.length]
  if (fleet.replicas.length < 4) return
  fleet.net.heal()
  await fleet.agreed(new Map([['a', counted]]), 60_000)
  if (kind === 'kill') fleet.kill(gone)
  else await fleet.leave(gone)
}

async function played(steps: readonly Step[], seed: number): Promise<void> {
  const fleet = new CountingFleet(seededRandom(seed), { loss: 0.1, doubles: 0.1, delayMs: 20 }, 1_000)
  for (let n = 0; n < 5; n++) fleet.start()
  // the replicas must know each other first
  await fleet.net.run(3_000, 100)
  let counted = 0
  for (const one of steps) {
    if (one.kind === 'count') {
      await fleet.replicas[one.at % fleet.replicas.length].counters.increment('a', one.units)
      counted += one.units
    } else if (one.kind === 'run') await fleet.net.run(one.ms, 50)
    else if (one.kind === 'cut') fleet.net.part((index) => ((one.sides >> (index % 5)) & 1) === 1)
    else if (one.kind === 'heal') fleet.net.heal()
    else if (one.kind === 'start') fleet.start()
    else await ended(fleet, one.kind, one.at, counted)
  }
  fleet.net.heal()
  await fleet.agreed(new Map([['a', counted]]), 60_000)
  await fleet.net.stop()
}

test('no units are lost or counted twice under losses, duplicates, reordering, partitions and crashes', async () => {
  const seed = baseSeed()
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.nat(), (steps, random) => played(steps, random)),
    { seed, numRuns: numberOfRuns(20), endOnFailure: true },
  )
}, 120_000)
