import type { Sample } from '../children/answer-record.ts'
import { ATTACKER, type FaultTimes, type Passed } from '../fleet.ts'
import type { Findings } from './findings.ts'
import { linesOf, quantile, type Timeline } from './timeline.ts'

export const DEADLINE_MS = 50
/** Allowance above the deadline: the delay of Node timers plus the work to process an answer. */
const MARGIN_MS = 10
const OPEN_MS = 2
/** Precision with which the start of a fault is known. */
const EDGE_MS = 5

/** Checks that hold in every row: the duration of decisions, that each is answered, and the number of log lines. */
export function holdsAlways(findings: Findings, { timeline, from, to }: Passed): void {
  // a caller that asked shortly before the fault also waits for an answer
  const during = timeline.between(from - DEADLINE_MS, to)
  const waiting = during.filter(({ breaker }) => breaker !== 'open')
  const ruled = during.filter(({ breaker }) => breaker === 'open')
  findings.note(`p50 ${quantile(during, 0.5).toFixed(1)} ms`)
  findings.atMost('p99 closed', quantile(waiting, 0.99), DEADLINE_MS + MARGIN_MS, ' ms')
  findings.note(`slowest ${quantile(waiting, 1).toFixed(0)} ms`)
  if (ruled.length > 0) findings.atMost('p99 open', quantile(ruled, 0.99), OPEN_MS, ' ms')
  allAnswered(findings, timeline)
}

/** No decision rejects, hangs or ends a process, and few lines are logged. Reported only on failure. */
export function allAnswered(findings: Findings, timeline: Timeline): void {
  findings.stalled(Math.max(...timeline.reports.map((report) => report.longestStallMs)))
  const [rejected, pending] = [timeline.sum((report) => report.rejected), timeline.sum((report) => report.pending)]
  const unhandled = timeline.reports.flatMap((report) => report.unhandled)
  const lines = timeline.linesASecond()
  findings.always(`rejected ${rejected}`, rejected === 0)
  findings.always(`pending ${pending}`, pending === 0)
  findings.always(`unhandled: ${unhandled.join(', ')}`, unhandled.length === 0)
  findings.always(`lines a second ${lines}: ${linesOf(timeline)}`, lines <= 1)
}

/** A key that was denied before the fault stays denied. */
export function staysDenied(findings: Findings, timeline: Timeline): void {
  const attempts = timeline.samples.filter(({ key }) => key === ATTACKER)
  const admitted = attempts.filter(({ allowed }) => allowed)
  findings.exactly(`of ${attempts.length} of a denied key admitted`, admitted.length, 0)
  findings.always('it hardly tried', attempts.length >= 10)
}

/** A key that was denied before the server lost its counts stays denied until the server is back, and then has a new limit. */
export function deniedUntilLost(findings: Findings, { timeline, to }: Passed, limit: number): void {
  const attempts = timeline.samples.filter(({ key }) => key === ATTACKER)
  const admitted = attempts.filter(({ allowed }) => allowed)
  const early = admitted.filter(({ at, counted }) => at < to && !counted)
  findings.exactly(`of ${attempts.length} of a denied key admitted without the server`, early.length, 0)
  findings.atMost('admitted after its counts were lost', admitted.length, limit)
  findings.always('it hardly tried', attempts.length >= 10)
}

/** The time between two probes, plus the duration of the probe that finds the server again. */
const BACK_MS = 1_000 + DEADLINE_MS
/** valkey-glide says nothing when it is connected again, so the next probe finds out. */
const GLIDE_BACK_MS = 2_000

export function isUsedAgain(findings: Findings, { timeline, to, client }: Passed, givenMs?: number): void {
  const boundMs = givenMs ?? (client === 'valkey-glide' ? GLIDE_BACK_MS : BACK_MS)
  findings.atMost('store-backed after', timeline.backAfterMs(to), boundMs, ' ms')
}

/**
 * Acknowledged requests are counted, and others are not. A request that timed out during a fault must not be counted
 * when Redis reads it later. Requests in flight at the start or end of a fault, and requests that were late at other
 * times on a busy machine, may be counted without an acknowledgement.
 */
export function countsAgree(
  findings: Findings,
  timeline: Timeline,
  server: number,
  faults: readonly FaultTimes[],
): void {
  const ghosts = ghostsOf(timeline).filter((sample) => !faults.some((fault) => isWithin(sample, fault)))
  agree(findings, timeline, server, ghosts.length)
}

/** For faults where commands arrive but answers are lost: at most the sent requests are counted. */
export function countsNoneTwice(findings: Findings, timeline: Timeline, server: number): void {
  agree(findings, timeline, server, ghostsOf(timeline).length)
}

function agree(findings: Findings, timeline: Timeline, server: number, mostGhosts: number): void {
  const acknowledged = timeline.samples.filter(({ policy, counted }) => policy === 'counter' && counted).length
  findings.exactly(`of ${acknowledged} counts lost`, Math.max(0, acknowledged - server), 0)
  findings.atMost('ghosts', Math.max(0, server - acknowledged), mostGhosts)
}

/** Number of requests that may have been counted without an acknowledgement. */
function ghostsOf({ samples }: Timeline): readonly Sample[] {
  return samples.filter(({ policy, counted, breaker }) => policy === 'counter' && !counted && breaker !== 'open')
}

function isWithin({ at, endedAt }: Sample, { from, to, begunAt = from, endingAt = to }: FaultTimes): boolean {
  return at > begunAt + EDGE_MS && endedAt < endingAt - EDGE_MS
}
