import { describe, expect, test } from '@jest/globals'
import { GCounter, type GCounterState, PNCounter, type PNCounterState } from '@sluice/counters'
import { baseSeed } from '@sluice/testkit'
import fc from 'fast-check'
import { codeOf } from '../../code-of.ts'

const LARGEST = Number.MAX_SAFE_INTEGER
const seeded = { seed: baseSeed() }

interface Mergeable {
  readonly value: number
  increment(n?: number): number
  merge(other: object): void
  toJSON(): object
}

function gState(amounts: Readonly<Record<string, number>>): GCounterState {
  return { kind: 'g-counter', amounts: Object.entries(amounts) }
}

function states(make: (replica: string) => Mergeable, delta: fc.Arbitrary<number>): fc.Arbitrary<object> {
  // of one replica, later states include earlier ones: the amounts of one run, cut at any points
  const cuts = fc.tuple(fc.nat(5), fc.nat(5), fc.nat(5))
  const runs = fc.constant(fc.sample(fc.array(delta, { minLength: 5, maxLength: 5 }), { ...seeded, numRuns: 3 }))
  return fc.tuple(cuts, runs).map(([ends, deltas]) => {
    const merged = make('observer')
    for (const [n, end] of ends.entries()) {
      const replica = make(`replica ${n}`)
      for (const amount of deltas[n].slice(0, end)) replica.increment(amount)
      merged.merge(replica.toJSON())
    }
    return merged.toJSON()
  })
}

describe.each([
  ['GCounter', (replica: string): Mergeable => new GCounter(replica), fc.nat(100)],
  ['PNCounter', (replica: string): Mergeable => new PNCounter(replica), fc.integer({ min: -100, max: 100 })],
] as const)('merging %s', (_, make, delta) => {
  const state = states(make, delta)
  const joined = (...all: readonly object[]): object => {
    const counter = make('observer')
    for (const one of all) counter.merge(one)
    return counter.toJSON()
  }

  test('is commutative, associative and idempotent', () => {
    fc.assert(
      fc.property(state, state, state, (a, b, c) => {
        expect(joined(a, b)).toEqual(joined(b, a))
        expect(joined(joined(a, b), c)).toEqual(joined(a, joined(b, c)))
        expect(joined(a, a)).toEqual(joined(a))
      }),
      seeded,
    )
  })

  test('loses nothing and counts nothing twice, for any states in any order and any number of times', () => {
    const step = fc.record({ at: fc.nat(2), delta, to: fc.nat(2) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.infiniteStream(fc.nat(1_000)), (steps, picks) => {
        const replicas = [make('a'), make('b'), make('c')]
        const sent: object[] = []
        let total = 0
        for (const { at, delta: n, to } of steps) {
          replicas[at].increment(n)
          total += n
          sent.push(replicas[at].toJSON())
          // any state that was ever sent: late, twice, or before an earlier one
          replicas[to].merge(sent[picks.next().value % sent.length])
        }
        for (const one of replicas) for (const other of replicas) one.merge(other.toJSON())
        expect(replicas.map(({ value }) => value)).toEqual([total, total, total])
      }),
      seeded,
    )
  })

  test('accepts JSON and counters', () => {
    const counter = make('näme "1"\0\ud800')
    counter.increment(41)
    const other = make('other')
    other.merge(JSON.parse(JSON.stringify(counter)) as object)
    other.merge(counter)
    expect(other.increment()).toBe(42)
  })

  test('rejects invalid states with an error code, and stays unchanged', () => {
    const pairs = { g: [['a', 1]] }
    const bad: readonly unknown[] = [
      ...[undefined, null, 1, 'text', [], {}, { kind: 'g-counter' }, { kind: 'pn-counter', up: pairs.g }],
      ...[
        [['a']],
        [['a', -1]],
        [['a', 0.5]],
        [['a', 2 ** 53]],
        [['', 1]],
        [['x'.repeat(257), 1]],
        [[1, 1]],
        ['ab'],
        {},
      ].map((amounts) => ({ ...make('a').toJSON(), amounts, up: pairs.g, down: amounts })),
      { ...make('a').toJSON(), amounts: [...pairs.g, ...pairs.g], up: [...pairs.g, ...pairs.g], down: [] },
    ]
    for (const state of bad) {
      const counter = make('own')
      expect([codeOf(() => counter.merge(state as object)), counter.value]).toEqual(['SLUICE_BAD_MESSAGE', 0])
    }
  })
})

describe('a GCounter', () => {
  test('merges its entries, which preserves units that a merge of totals would lose', () => {
    const one = gState({ s1: 60, s2: 40 })
    const other = gState({ s1: 55, s2: 50 })
    const totals = [one, other].map((state) => GCounter.fromJSON(state, 's3').value)
    expect([totals, Math.max(...totals)]).toEqual([[100, 105], 105])
    const counter = GCounter.fromJSON(one, 's3')
    counter.merge(other)
    expect([counter.value, counter.toJSON()]).toEqual([110, gState({ s1: 60, s2: 50 })])
  })

  test('rejects invalid amounts and names with an error code', () => {
    const counter = new GCounter('a')
    for (const n of [-1, 0.5, Number.NaN, 2 ** 53, '1', null]) {
      expect(codeOf(() => counter.increment(n as number))).toBe('SLUICE_BAD_DELTA')
    }
    for (const replica of ['', 'é'.repeat(129), undefined, 1]) {
      expect(codeOf(() => new GCounter(replica as string))).toBe('SLUICE_BAD_NAME')
      expect(codeOf(() => new PNCounter(replica as string))).toBe('SLUICE_BAD_NAME')
    }
    expect([counter.increment(0), counter.value, counter.toJSON().amounts]).toEqual([0, 0, []])
  })

  test('counts up to 2^53 - 1, and reports an error if the replicas together exceed it', () => {
    const counter = new GCounter('a')
    expect(counter.increment(LARGEST)).toBe(LARGEST)
    expect([codeOf(() => counter.increment()), counter.value]).toEqual(['SLUICE_COUNTER_RANGE', LARGEST])
    counter.merge(gState({ b: 1 }))
    expect(codeOf(() => counter.value)).toBe('SLUICE_COUNTER_RANGE')
    expect(codeOf(() => counter.increment(0))).toBe('SLUICE_COUNTER_RANGE')
    expect(counter.toJSON()).toEqual(gState({ a: LARGEST, b: 1 }))
  })
})

describe('a PNCounter', () => {
  test('adds up what two databases counted up and down at the same time', () => {
    const [a, b] = [new PNCounter('a'), new PNCounter('b')]
    const sync = (): readonly number[] => {
      const [ofA, ofB] = [a.toJSON(), b.toJSON()]
      a.merge(ofB)
      b.merge(ofA)
      return [a.value, b.value]
    }
    a.increment(7)
    b.increment(3)
    expect([a.value, b.value, sync()]).toEqual([7, 3, [10, 10]])
    a.decrement(3)
    b.increment(6)
    expect([a.value, b.value, sync()]).toEqual([7, 16, [13, 13]])
  })

  test('stays exact if intermediate sums exceed 2^53', () => {
    const state: PNCounterState = {
      kind: 'pn-counter',
      up: [
        ['a', LARGEST],
        ['b', LARGEST],
      ],
      down: [
        ['c', LARGEST],
        ['d', LARGEST - 7],
      ],
    }
    expect(PNCounter.fromJSON(state, 'e').value).toBe(7)
  })

  test('rejects changes outside of its range, in total and for one replica', () => {
    const counter = new PNCounter('a')
    counter.decrement(LARGEST)
    expect([codeOf(() => counter.decrement()), counter.value]).toEqual(['SLUICE_COUNTER_RANGE', -LARGEST])
    counter.increment(LARGEST)
    expect([codeOf(() => counter.increment()), counter.value]).toEqual(['SLUICE_COUNTER_RANGE', 0])
    for (const n of [0.5, '1', null]) expect(codeOf(() => counter.decrement(n as number))).toBe('SLUICE_BAD_DELTA')
  })
})
