import { type Model, type Step, textOf } from '../explorer.ts'
import { failoverCode } from './failover-code.ts'
import { FAILOVER_RULES, type FailoverSize, type FailoverState, type Process } from './failover-state.ts'

/**
 * Failover and recovery with the rule `local`: the `MirrorPolicy` of each process decides if the backend does not answer
 * in time, and reports its units with the next call. The cells of processes and of the backend are changed by the code.
 */
export function failoverModel(
  { processes: count, limit, replies, ...budget }: FailoverSize,
  changed: Partial<typeof FAILOVER_RULES> = {},
): Model<FailoverState> {
  const rules = { ...FAILOVER_RULES, ...changed }
  const {
    remaining,
    left,
    taken,
    answered,
    decided,
    reported,
    resolved,
    broken,
    start: process,
    cells: backendCells,
  } = failoverCode(limit, rules)

  function* next(state: FailoverState): Iterable<Step<FailoverState>> {
    for (const [at, process] of state.processes.entries()) {
      const become = (change: Partial<Process>, rest: Partial<FailoverState> = {}): FailoverState => ({
        ...state,
        ...rest,
        processes: state.processes.with(at, { ...process, ...change }),
      })
      const { call, late, isFailing } = process
      const late1 = { lates: state.lates - 1 }
      const break1 = { breaks: state.breaks - 1 }
      if (call) {
        const [backend, isAllowed, used] = taken(state.cells, call.known)
        if (replies === 'any' || late.length === 0)
          yield [`${at}: the call is answered`, become(answered(process, isAllowed, used), { cells: backend })]
        if (state.lates > 0) {
          const [own, units] = decided(process, rules.basis, call.known)
          const missed = (isCounted: boolean) => ({ ...own, late: [...late, { known: call.known, units, isCounted }] })
          yield [
            `${at}: the call is counted, and its reply is late`,
            become(missed(isAllowed), { cells: backend, ...late1 }),
          ]
          yield [`${at}: the call is late, and refused`, become(missed(false), late1)]
        }
        if (state.breaks > 0) {
          const [own] = decided(process, 'unsure', call.known)
          yield [
            `${at}: the call is counted, and its connection breaks`,
            become(broken(own), { cells: backend, ...break1 }),
          ]
          yield [`${at}: the connection of the call breaks`, become(broken(own), break1)]
        }
      } else if (replies !== 'awaited' || late.length === 0) {
        const [cells, known] = reported(process)
        yield [`${at}: calls`, become({ cells, call: { known } })]
      }
      if (!call && isFailing)
        yield [`${at}: decides without a call`, become(decided(process, 'uncounted', undefined)[0])]
      for (const [index, one] of (replies === 'any' ? late : late.slice(0, 1)).entries()) {
        yield [
          `${at}: late reply ${index} arrives`,
          become({ cells: resolved(process.cells, one), late: late.toSpliced(index, 1) }),
        ]
      }
      if (late.length > 0) {
        if (state.breaks > 0) yield [`${at}: the connection of late replies breaks`, become(broken(process), break1)]
      }
    }
    if (state.losses > 0) yield ['the backend restarts empty', restarted(state)]
  }

  function restarted(state: FailoverState): FailoverState {
    const processes = state.processes.map((process) => {
      const failed = process.call ? decided(process, 'unsure', process.call.known)[0] : process
      return { ...broken(failed), isOutdated: true, isFailing: true }
    })
    return { ...state, cells: state.cells.map(() => 0), losses: state.losses - 1, processes }
  }

  function violation({ cells, lates, losses, breaks, processes }: FailoverState): string | undefined {
    const failures = budget.lates - lates + budget.breaks - breaks
    const isExact = replies === 'awaited' && breaks === budget.breaks
    // one unit for each call that failed while others were under way
    const error = isExact ? 0 : failures
    for (const [at, one] of processes.entries()) {
      if (one.admitted > limit + error) return `process ${at} admitted ${one.admitted} units of ${limit}`
      if (one.hasDenied && error === 0 && left(one) > 0) return `process ${at} has units after a denial`
    }
    if (losses < budget.losses) return undefined
    const counted = limit - remaining(cells)
    const admitted = processes.reduce((sum, one) => sum + one.admitted, 0)
    const isQuiet = processes.every((one) => !one.call && one.late.length === 0 && reported(one)[1] === undefined)
    const isWrong = counted > admitted + error || (isQuiet && counted < Math.min(limit, admitted) - error)
    return isWrong ? `${counted} units counted, ${admitted} admitted` : undefined
  }

  const start = {
    ...budget,
    cells: new Array<number>(backendCells).fill(0),
    processes: new Array<Process>(count).fill(process),
  }
  const key = ({ processes, ...rest }: FailoverState): string =>
    `${textOf(rest)}${processes.map(textOf).sort().join('')}`
  return { start, next, violation, key }
}
