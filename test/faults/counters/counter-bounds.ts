import type { Findings } from '../report/findings.ts'
import type { Form } from '../report/row.ts'
import type { Call, CallKind } from './children/call-record.ts'
import type { CountingReport } from './children/counting-app.ts'
import type { CountedTier, PassedFault, Tier } from './counting-fleet.ts'

/** Maximum duration of plain increments of known ids, in memory or with a round trip to Redis. */
const PLAIN_MS: Readonly<Record<Tier, number>> = { 'in a process': 5, 'in Redis': 50 }
/** Delay of a Node timer on a busy machine. */
const MARGIN_MS = 100
/** After many failures, an attempt may wait a second for its turn. */
const FLUSHED_MS = 3_000
const UNANSWERED = 'SLUICE_COUNTERS_UNAVAILABLE'

/** In the short form other tests may keep the machine busy, so limits are multiplied by this factor. */
const SHORT_SLACK = 3

export interface Expectation {
  readonly form: Form
  /** Tiers that cannot count at all during the fault, so that plain increments fail. */
  readonly refuses?: Tier
  /** Maximum time from the end of the fault until the ledger is complete. Default: 3 s. */
  readonly flushedMs?: number
}

/**
 * Checks that hold in every row: each unit is counted once, each call is answered, plain calls are fast, and the ledger
 * is complete soon.
 */
export function countsEachOnce(findings: Findings, passed: PassedFault, expected: Expectation): void {
  const slack = expected.form === 'short' ? SHORT_SLACK : 1
  for (const counted of passed.tiers) {
    answersInTime(findings, counted, { ...passed, slack, isRefused: counted.tier === expected.refuses })
    settlesAll(findings, counted)
    findings.atMost(
      'all in the ledger after',
      counted.flushedAfterMs,
      slack * (expected.flushedMs ?? FLUSHED_MS),
      ' ms',
    )
    agrees(findings, counted)
  }
}

function settlesAll(findings: Findings, { tier, reports }: CountedTier): void {
  findings.stalled(Math.max(...reports.map(({ longestStallMs }) => longestStallMs)))
  const pending = reports.reduce((sum, report) => sum + report.pending, 0)
  const unhandled = reports.flatMap((report) => report.unhandled)
  const codes = new Set(reports.flatMap(({ calls }) => calls.flatMap(({ code }) => code ?? [])))
  codes.delete(UNANSWERED)
  findings.always(`${tier}: pending ${pending}`, pending === 0)
  findings.always(`${tier}: unhandled ${unhandled.join(', ')}`, unhandled.length === 0)
  findings.always(`${tier}: refused by ${[...codes].join(', ')}`, codes.size === 0)
}

function answersInTime(
  findings: Findings,
  { tier, reports }: CountedTier,
  { from, to, waitMs, slack, isRefused }: PassedFault & { readonly slack: number; readonly isRefused: boolean },
): void {
  const during = reports.flatMap(({ calls }) => calls.filter(({ at }) => at >= from - waitMs && at < to))
  const of = (...kinds: readonly CallKind[]): readonly Call[] => during.filter(({ kind }) => kinds.includes(kind))
  const [plain, waiting] = [of('plain'), of('durable', 'token', 'new')]
  const [plainRefused, waitingRefused] = [plain, waiting].map((calls) => calls.filter(({ code }) => code !== undefined))
  if (isRefused) findings.note(`${tier}: of ${plain.length} plain refused ${plainRefused?.length}`)
  else {
    findings.atMost(`${tier}: plain p99`, p99(plain), slack * PLAIN_MS[tier], ' ms')
    findings.exactly(`of ${plain.length} refused`, plainRefused?.length ?? 0, 0)
  }
  const slowest = Math.max(0, ...waiting.map(({ ms }) => ms))
  findings.atMost('slowest durable or new', slowest, waitMs + slack * MARGIN_MS, ' ms')
  findings.note(`of ${waiting.length} refused ${waitingRefused?.length}`)
}

/** No acknowledged unit is missing, no unit is counted twice, and each token is counted once. */
function agrees(findings: Findings, { reports, durable }: CountedTier): void {
  const answered = sumOf(reports, (report) => report.answered)
  const doubtful = sumOf(reports, (report) => report.doubtful)
  for (const token of reports.flatMap(({ tokens }) => tokens)) {
    answered.set(token, 1)
    doubtful.delete(token)
  }
  let [lost, twice, ghosts] = [0, 0, 0]
  for (const id of new Set([...answered.keys(), ...doubtful.keys(), ...durable.keys()])) {
    const more = (durable.get(id) ?? 0) - (answered.get(id) ?? 0)
    const mayBe = doubtful.get(id) ?? 0
    lost += Math.max(0, -more)
    twice += Math.max(0, more - mayBe)
    ghosts += Math.max(0, Math.min(more, mayBe))
  }
  const units = [...answered.values()].reduce((sum, one) => sum + one, 0)
  findings.exactly(`of ${units} units lost`, lost, 0)
  findings.exactly('twice', twice, 0)
  if (ghosts > 0) findings.note(`${ghosts} counted that were refused as unanswered`)
}

function sumOf(
  reports: readonly CountingReport[],
  of: (report: CountingReport) => ReadonlyMap<string, number>,
): Map<string, number> {
  const sums = new Map<string, number>()
  for (const report of reports) for (const [id, units] of of(report)) sums.set(id, (sums.get(id) ?? 0) + units)
  return sums
}

function p99(calls: readonly Call[]): number {
  const sorted = calls.map(({ ms }) => ms).sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? 0
}
