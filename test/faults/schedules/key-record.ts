import type { TakeReport } from './member.ts'
import type { ServerSide } from './observed-backend.ts'
import type { KeyName, Schedule } from './schedule.ts'

/** A take by a member. */
export interface Take {
  readonly member: number
  readonly cost: number
  readonly startedAt: number
  endedAt: number
  /** Undefined while the take is in flight, or if its process died before it reported. */
  report: TakeReport | undefined
  /** Server-side result of a take that the server did not answer. */
  serverSide: ServerSide
  refunded: number
  /** Whether its process was killed, with everything it had not reported yet. */
  died: boolean
}

interface Refund {
  readonly take: Take
  readonly units: number
  readonly startedAt: number
  /** False if the server may have applied the refund, or may apply it later. */
  sure: boolean
}

interface Reset {
  readonly member: number
  readonly startedAt: number
  endedAt: number
  /** False if the server may apply the reset later. */
  sure: boolean
}

/** Minimum and maximum. */
export type Range = readonly [number, number]

const NONE: Range = [0, 0]

/**
 * History of a key, and the range of units that may be charged for it once no call is in flight and every member has
 * reported its usage. Each take adds a minimum and a maximum:
 *
 * - a take that the server answered: its cost, or nothing if it was denied;
 * - a take that the rule admitted: its cost once, because it is reported to the server. If only the answer is missing
 *   and other members use the key at the same time, the server cannot tell whether it has counted the take: then zero
 *   or the full cost, or twice the cost if refunds in the meantime look like missing units;
 * - a take that was denied, or admitted by a rule that does not count: the server-side result.
 */
export class KeyRecord {
  readonly name: KeyName
  readonly takes: Take[] = []
  readonly refunds: Refund[] = []
  readonly resets: Reset[] = []
  /** Units that were on lease when a process died. */
  lostLent = 0
  readonly #schedule: Pick<Schedule, 'counting' | 'rule' | 'algorithm' | 'changes'>

  constructor(name: KeyName, schedule: Pick<Schedule, 'counting' | 'rule' | 'algorithm' | 'changes'>) {
    this.name = name
    this.#schedule = schedule
  }

  begin(member: number, cost: number, startedAt: number): Take {
    const report = undefined
    const take: Take = {
      member,
      cost,
      startedAt,
      endedAt: Infinity,
      report,
      serverSide: 'unknown',
      refunded: 0,
      died: false,
    }
    this.takes.push(take)
    return take
  }

  /** Range of units that may be charged. */
  range(): Range {
    const reset = this.resets.findLast(({ sure }) => sure)
    let [least, most] = [0, this.lostLent]
    for (const take of this.takes) {
      const [itsLeast, itsMost] = this.#rangeOf(take, reset)
      least += itsLeast
      most += itsMost
    }
    for (const refund of this.refunds) {
      least -= refund.units
      if (this.#isSure(refund, reset)) most -= refund.units
    }
    least -= this.#lostInDoubt()
    // a member that could not reset the key does so later, at an unknown time
    const isUnsure = this.resets.some((one) => !one.sure && (reset === undefined || one.endedAt > reset.startedAt))
    return [isUnsure ? 0 : Math.max(0, least), Math.max(0, most)]
  }

  /** Maximum number of units that may have been charged at any time since the last reset. */
  mostEver(): number {
    const reset = this.resets.findLast(({ sure }) => sure)
    return this.takes.reduce((sum, take) => sum + this.#rangeOf(take, reset)[1], this.lostLent)
  }

  /** Takes that may be refunded: by their own process, each unit once. */
  refundable(member: number): readonly Take[] {
    const since = this.resets.at(-1)?.endedAt ?? Number.NEGATIVE_INFINITY
    return this.takes.filter(({ report, ...take }) => {
      const isMine = take.member === member && !take.died && take.startedAt > since
      const isKept = report?.allowed === true && (report.counted || this.#schedule.rule === 'local')
      return isMine && isKept && take.refunded < take.cost
    })
  }

  /** Events in order, for debugging. */
  history(): string {
    const at = (time: number): number => Math.round(time - this.takes[0].startedAt)
    const lines = [
      ...this.takes.map((take) => {
        const { allowed, counted, surelyUncounted } = take.report ?? {}
        const answer = take.report
          ? `${allowed ? 'passed' : 'denied'}${counted ? '' : ` by the rule, ${surelyUncounted ? 'surely' : 'perhaps'} uncounted, ${take.serverSide}`}`
          : 'without an answer'
        return [
          take.startedAt,
          `take ${take.cost} by ${take.member} until ${at(take.endedAt)}: ${answer}${take.died ? ', died' : ''}`,
        ] as const
      }),
      ...this.refunds.map(
        ({ startedAt, take, units, sure }) =>
          [
            startedAt,
            `refund ${units} by ${take.member} of the take at ${at(take.startedAt)}${sure ? '' : ', perhaps later'}`,
          ] as const,
      ),
      ...this.resets.map(
        ({ startedAt, member, sure }) => [startedAt, `reset by ${member}${sure ? '' : ', perhaps later'}`] as const,
      ),
    ]
    lines.sort(([one], [other]) => one - other)
    return lines.map(([time, line]) => `    ${at(time)}: ${line}`).join('\n')
  }

  #rangeOf(take: Take, reset: Reset | undefined): Range {
    const range = this.#unresetRange(take)
    if (reset === undefined || take.startedAt > reset.endedAt) return range
    const wasCounted = take.report?.counted === true && take.endedAt < reset.startedAt
    // other members report takes from their leases after the reset
    const mayBeTold = this.#schedule.counting === 'leased' && take.member !== reset.member
    return wasCounted && !mayBeTold ? NONE : [0, range[1]]
  }

  #unresetRange({ report, cost, serverSide, died }: Take): Range {
    const sure = serverSide === 'counted' ? cost : 0
    const possible = serverSide === 'not counted' ? 0 : cost
    if (report === undefined) return [sure, possible]
    if (report.counted) return report.allowed ? [cost, cost] : NONE
    if (!report.allowed || this.#schedule.rule !== 'local') return [sure, possible]
    const { owner, policy } = this.name
    if (owner !== undefined && policy === 'roomy' && !died) return [cost, cost]
    const cameBack = this.refunds.length > 0 || this.resets.length > 0
    return [sure, cameBack ? 2 * cost : cost]
  }

  /**
   * Units that were perhaps counted and perhaps refunded are reported as if they were, so the same number of
   * units may be missing.
   */
  #lostInDoubt(): number {
    const perhaps = this.takes.filter(({ report }) => report && !report.counted && !report.surelyUncounted)
    const backs = this.refunds.filter(({ sure }) => !sure)
    const units = backs.reduce((sum, refund) => sum + refund.units, 0)
    return Math.min(
      units,
      perhaps.reduce((sum, { cost }) => sum + cost, 0),
    )
  }

  /** Whether the refund was applied in full. */
  #isSure({ take, startedAt }: Refund, reset: Reset | undefined): boolean {
    if (take.died || (reset !== undefined && startedAt < reset.endedAt)) return false
    const { report } = take
    const { algorithm, counting, changes } = this.#schedule
    // a log finds refunded units by their time, and usage reported to another server has the time of the report
    if (changes && algorithm === 'sliding-log') return false
    const isBucket = algorithm === 'token-bucket' || algorithm === 'gcra'
    // a window starts with its first charge, and earlier takes from a lease are not found in it
    if (report?.counted) return counting === 'exact' || reset === undefined || isBucket
    const isFound = algorithm !== 'sliding-log' && reset === undefined
    return report?.surelyUncounted === true && isFound && this.name.owner !== undefined
  }
}
