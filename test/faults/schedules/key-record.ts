import type { TakeReport } from './member.ts'
import type { ServerSide } from './observed-backend.ts'
import type { KeyName, Schedule } from './schedule.ts'

/** A take of a member. */
export interface Take {
  readonly member: number
  readonly cost: number
  readonly startedAt: number
  endedAt: number
  /** Undefined while it is under way, and where its process died before it told. */
  report: TakeReport | undefined
  /** Of one that was not answered by the server. */
  serverSide: ServerSide
  refunded: number
  /** Its process was killed: what it had yet to tell is gone with it. */
  died: boolean
}

interface Refund {
  readonly take: Take
  readonly units: number
  readonly startedAt: number
  /** False where the server may have done it, or does it later. */
  sure: boolean
}

interface Reset {
  readonly member: number
  readonly startedAt: number
  endedAt: number
  /** False where the server may do it later. */
  sure: boolean
}

/** At least and at most. */
export type Range = readonly [number, number]

const NONE: Range = [0, 0]

/**
 * What happened to a key, and what may be charged for it once nothing is under way and every member has told what it
 * knows. Each take adds what it must have cost, and what it may have cost at most:
 *
 * - one that was counted its cost, or nothing where it was denied;
 * - one that the rule let pass its cost, once: the server is told of it. Where only an answer is missing and the key is
 *   used by others at the same time, the server cannot tell whether it has counted it: then none or all of it, and twice
 *   where units came back meanwhile, which look as if they were missing;
 * - one that was denied, or let pass by a rule that counts nothing, what the server made of it.
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

  /** Units that may be charged. */
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
    // whoever could not reset the key does it later, and nobody knows when
    const isUnsure = this.resets.some((one) => !one.sure && (reset === undefined || one.endedAt > reset.startedAt))
    return [isUnsure ? 0 : Math.max(0, least), Math.max(0, most)]
  }

  /** Units that may have been charged at any time since the last reset. */
  mostEver(): number {
    const reset = this.resets.findLast(({ sure }) => sure)
    return this.takes.reduce((sum, take) => sum + this.#rangeOf(take, reset)[1], this.lostLent)
  }

  /** Takes that may be refunded: by their own process, once each unit. */
  refundable(member: number): readonly Take[] {
    const since = this.resets.at(-1)?.endedAt ?? Number.NEGATIVE_INFINITY
    return this.takes.filter(({ report, ...take }) => {
      const isMine = take.member === member && !take.died && take.startedAt > since
      const isKept = report?.allowed === true && (report.counted || this.#schedule.rule === 'local')
      return isMine && isKept && take.refunded < take.cost
    })
  }

  /** What happened, in its order, for whoever looks for the fault. */
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
    // what others spent of their leases they tell after the reset
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
   * While nobody knows whether units were given back, those that were perhaps counted are told as if they were: as many
   * may be taken for counted that are not.
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

  /** Whether as many units came back as were given back. */
  #isSure({ take, startedAt }: Refund, reset: Reset | undefined): boolean {
    if (take.died || (reset !== undefined && startedAt < reset.endedAt)) return false
    const { report } = take
    const { algorithm, counting, changes } = this.#schedule
    // a log finds what is given back by its instant: what another server is told of has that of its telling
    if (changes && algorithm === 'sliding-log') return false
    const isBucket = algorithm === 'token-bucket' || algorithm === 'gcra'
    // a window begins with what is charged first, and what was taken of a lease before that is not found in it
    if (report?.counted) return counting === 'exact' || reset === undefined || isBucket
    const isFound = algorithm !== 'sliding-log' && reset === undefined
    return report?.surelyUncounted === true && isFound && this.name.owner !== undefined
  }
}
