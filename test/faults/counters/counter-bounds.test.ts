import { describe, expect, test } from '@jest/globals'
import { Findings } from '../report/findings.ts'
import type { Call } from './children/call-record.ts'
import type { CountingReport } from './children/counting-app.ts'
import { countsEachOnce, type Expectation } from './counter-bounds.ts'
import type { CountedTier } from './counting-fleet.ts'

const WAIT_MS = 500

interface Case {
  readonly call?: Partial<Call>
  readonly report?: Partial<CountingReport>
  readonly tier?: Partial<CountedTier>
  readonly expected?: Partial<Expectation>
}

/**
 * Failed checks for one second in which one process counted 50 plain units and one token. Default: everything succeeds.
 */
function missesOf({ call, report, tier, expected }: Case): readonly string[] {
  const usual: Call = { kind: 'plain', at: 500, endedAt: 501, ms: 1, code: undefined }
  const calls: Call[] = Array.from({ length: 50 }, () => usual)
  if (call) calls.push(...Array.from({ length: 5 }, () => ({ ...usual, ...call })))
  const one: CountingReport = {
    ...{ calls, answered: new Map([['a', 50]]), doubtful: new Map(), tokens: ['t'] },
    ...{ pending: 0, unhandled: [], longestStallMs: 0 },
    ...report,
  }
  const counted: CountedTier = {
    ...{ tier: 'in a process', reports: [one], flushedAfterMs: 10 },
    durable: new Map([
      ['a', 50],
      ['t', 1],
    ]),
    ...tier,
  }
  const findings = new Findings()
  countsEachOnce(findings, { from: 0, to: 1_000, waitMs: WAIT_MS, tiers: [counted] }, { form: 'long', ...expected })
  return findings.misses
}

function durable(a: number, t = 1): Partial<CountedTier> {
  return {
    durable: new Map([
      ['a', a],
      ['t', t],
    ]),
  }
}

const UNANSWERED = 'SLUICE_COUNTERS_UNAVAILABLE'

describe('the checks of counters report nothing', () => {
  test.each<[string, Case]>([
    ['if there are no failures', {}],
    ['if units of a failed call were counted', { report: { doubtful: new Map([['a', 2]]) }, tier: durable(52) }],
    ['if durable calls fail in time', { call: { kind: 'durable', ms: WAIT_MS, code: UNANSWERED } }],
    [
      'if plain calls fail, and the fault is meant to cause this',
      { call: { code: UNANSWERED }, expected: { refuses: 'in a process' } },
    ],
  ])('%s', (_, one) => {
    expect(missesOf(one)).toEqual([])
  })
})

describe('the checks report', () => {
  test.each<[string, Case]>([
    ['a missing unit', { tier: durable(49) }],
    ['a unit that was counted twice', { tier: durable(51) }],
    ['a missing token', { tier: durable(50, 0) }],
    ['a token that was counted twice', { tier: durable(50, 2) }],
    ['slow plain increments', { call: { ms: 6 } }],
    ['failed plain increments', { call: { code: UNANSWERED } }],
    ['a durable call that misses its deadline', { call: { kind: 'durable', ms: WAIT_MS + 101 } }],
    ['a failure with another code', { call: { kind: 'durable', code: 'ECONNREFUSED' } }],
    ['a call without an answer', { report: { pending: 1 } }],
    ['an unhandled error', { report: { unhandled: ['Error'] } }],
    ['a ledger that is complete too late', { tier: { flushedAfterMs: 3_001 } }],
  ])('%s', (_, one) => {
    expect(missesOf(one)).toHaveLength(1)
  })
})
