import { describe, expect, test } from '@jest/globals'
import { Findings } from '../findings.ts'
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

/** What is missed of a second in which one process counted 50 plain units and one token, all well unless said. */
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

describe('the laboratory finds no fault of counters', () => {
  test.each<[string, Case]>([
    ['where all is well', {}],
    [
      'in units that were refused as unanswered, and counted',
      { report: { doubtful: new Map([['a', 2]]) }, tier: durable(52) },
    ],
    ['in durable calls that are refused in time', { call: { kind: 'durable', ms: WAIT_MS, code: UNANSWERED } }],
    [
      'in plain ones that are refused where that is the fault',
      { call: { code: UNANSWERED }, expected: { refuses: 'in a process' } },
    ],
  ])('%s', (_, one) => {
    expect(missesOf(one)).toEqual([])
  })
})

describe('the laboratory finds', () => {
  test.each<[string, Case]>([
    ['a unit that is missing', { tier: durable(49) }],
    ['a unit that counted twice', { tier: durable(51) }],
    ['a token that is missing', { tier: durable(50, 0) }],
    ['a token that counted twice', { tier: durable(50, 2) }],
    ['plain increments that are slow', { call: { ms: 6 } }],
    ['plain increments that are refused', { call: { code: UNANSWERED } }],
    ['a durable call after its deadline', { call: { kind: 'durable', ms: WAIT_MS + 101 } }],
    ['a refusal by another code', { call: { kind: 'durable', code: 'ECONNREFUSED' } }],
    ['a call without an answer', { report: { pending: 1 } }],
    ['an error that nobody handled', { report: { unhandled: ['Error'] } }],
    ['a ledger that has all too late', { tier: { flushedAfterMs: 3_001 } }],
  ])('%s', (_, one) => {
    expect(missesOf(one)).toHaveLength(1)
  })
})
