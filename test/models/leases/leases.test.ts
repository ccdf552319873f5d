import { describe, expect, test } from '@jest/globals'
import { expectFound, expectKept, statesOf } from '../claims.ts'
import { explore } from '../explorer.ts'
import { type LEASE_RULES, leasesModel } from './leases.ts'
import { expected, LeasesCode } from './leases-code.ts'
import { leasesSizes } from './leases-sizes.ts'
import type { LeasesSize, LeasesState } from './leases-state.ts'

const endless = Number.POSITIVE_INFINITY
const small: LeasesSize = { processes: 2, limit: 1, window: endless, ticks: 1, kills: 0, faults: 1 }
const windowed: LeasesSize = { ...small, window: 2 }

const faults: readonly (readonly [string, LeasesSize, Partial<typeof LEASE_RULES>])[] = [
  ['leased units are not withheld', small, { withheld: () => 0 }],
  ['an expired lease is forgotten', small, { chargedAtEnd: () => 0, settledAtEnd: () => 0 }],
  ['an expired lease is charged in addition to its report', small, { settledAtEnd: () => 0 }],
  ['a returned lease is counted twice', windowed, { charged: (spent, more) => spent + Math.min(0, spent + more) }],
  ['a report is acknowledged before it is written', windowed, { losesWrites: true }],
  ['a repeated report is charged again', small, { spentSince: ({ spent }) => spent }],
  ['an overtaken request is applied', windowed, { isStale: () => false }],
  ['a clock is slower than the ledger permits', windowed, { ownTicks: (ticks, age) => ticks + 2 - age }],
  ['a lease begins when its grant arrives', windowed, { ownTicks: (ticks) => ticks }],
  [
    'units are charged when they are leased',
    { ...windowed, ticks: 2, faults: 0 },
    {
      charged: (spent, more) => spent + more,
      chargedAtGrant: (granted) => granted,
      chargedAtEnd: () => 0,
      settledAtEnd: () => 0,
      withheld: () => 0,
    },
  ],
]

describe('the protocol of leases', () => {
  test.each(leasesSizes)('admits no more than the limit in any window: %j', (size) => {
    expectKept(`leases ${JSON.stringify(size)}`, leasesModel(size))
  })

  test.each(faults)('would be violated if %s', (fault, size, rules) => {
    expectFound(`leases, if ${fault}`, leasesModel(size, rules))
  })
})

describe('the code of leases', () => {
  const sizes: readonly LeasesSize[] = [
    { processes: 2, limit: 2, window: endless, ticks: 1, kills: 0, faults: 1 },
    { processes: 2, limit: 1, window: 3, ticks: 2, kills: 1, faults: 0 },
  ]

  test.each(sizes)('answers as the model on the way to its states: %j', (size) => {
    const model = leasesModel(size)
    const traces: (readonly string[])[] = []
    let states = 0
    const visited = (_: LeasesState, traceOf: () => readonly string[]): void => {
      if (++states % 40 === 0) traces.push(traceOf())
    }
    explore(model, { mostStates: 10_000, visited })
    const followed = traces.filter((trace) => follow(trace, size))
    process.stdout.write(`the code followed ${followed.length} traces of ${traces.length}\n`)
    expect(followed.length).toBeGreaterThan(100)
  })

  /** Returns false for a trace that the code cannot follow: it returns all units or none, not any number. */
  function follow(trace: readonly string[], size: LeasesSize): boolean {
    const states = statesOf(leasesModel(size), trace)
    const isPossible = trace.every((event, at) => {
      const [, process, keep] = /^(\d).*keeps ([1-9])/.exec(event) ?? []
      return keep === undefined || Number(keep) === states[at].processes[Number(process)].held
    })
    const code = new LeasesCode(size)
    for (const [at, event] of isPossible ? trace.entries() : []) {
      const actual = code.apply(event, states[at])
      expect([trace.slice(0, at + 1), actual]).toEqual([
        trace.slice(0, at + 1),
        expected(event, states[at + 1], size.limit),
      ])
    }
    return isPossible
  }
})
