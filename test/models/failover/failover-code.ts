import { algorithms } from '@sluice/limiter-core/backend'
import { restoreUsage } from '../../../packages/limiter-core/src/backend/restore-usage.ts'
import type { PriorUsage } from '../../../packages/limiter-core/src/contracts.ts'
import { MirrorPolicy } from '../../../packages/limiter-core/src/failover/mirror-policy.ts'
import type { Basis } from '../../../packages/limiter-core/src/failover/own-units.ts'
import type { FAILOVER_RULES, LateCall, Process } from './failover-state.ts'

const NOW = 1_000
const RESET_MS = 1e6

/** The changes of cells, by the code of the mirror and of the backend. The window does not end. */
export function failoverCode(limit: number, rules: typeof FAILOVER_RULES) {
  const compiled = algorithms['fixed-window'].compile({
    name: 'model',
    algorithm: 'fixed-window',
    limit,
    windowMs: RESET_MS,
  })
  const mirror = new MirrorPolicy(compiled, 1)

  function change(cells: readonly number[], run: (copy: Float64Array) => void): readonly number[] {
    const copy = Float64Array.from(cells)
    run(copy)
    return [...copy]
  }
  const remaining = (cells: readonly number[]): number => compiled.remaining(Float64Array.from(cells), 0, NOW)

  const left = ({ cells }: Process): number => mirror.remaining(Float64Array.from(cells), 0, NOW)

  /** Returns the backend after a take, whether it was allowed, and the used units. */
  function taken(
    cells: readonly number[],
    known: PriorUsage | undefined,
  ): readonly [readonly number[], boolean, number] {
    const restored = known ? change(cells, (copy) => restoreUsage(compiled, copy, 0, NOW, known)) : cells
    const isAllowed = remaining(restored) > 0
    const after = isAllowed ? change(restored, (copy) => compiled.spend(copy, 0, NOW, 1)) : restored
    return [after, isAllowed, limit - remaining(after)]
  }

  function answered(process: Process, isAllowed: boolean, used: number): Partial<Process> {
    const { cells, admitted, hasDenied } = process
    const adopter = mirror.adopterOf(
      { used, held: 0, resetAfterMs: RESET_MS, now: NOW, calledAt: NOW },
      0,
      isAllowed ? 1 : 0,
    )
    const after = change(cells, (copy) => adopter.adopt(copy, 0, NOW, used, RESET_MS))
    const rest = { call: undefined, isFailing: false, isOutdated: false }
    return { ...rest, cells: after, admitted: admitted + (isAllowed ? 1 : 0), hasDenied: hasDenied || !isAllowed }
  }

  /** Returns the process after a decision of the failure rule, and the admitted units. */
  function decided(process: Process, basis: Basis, known: PriorUsage | undefined): readonly [Process, number] {
    const { admitted } = known ?? {}
    let isAllowed = false
    const cells = change(process.cells, (copy) => {
      if (!rules.adopts) copy.fill(0)
      if (admitted && rules.handsBack) mirror.own.handBack(copy, 0, admitted, NOW, basis)
      mirror.basis = basis
      isAllowed = mirror.waitMs(copy, 0, NOW, 1) === 0
      if (isAllowed) mirror.spend(copy, 0, NOW, 1)
    })
    const units = isAllowed ? 1 : 0
    return [
      {
        ...process,
        cells,
        call: undefined,
        isFailing: true,
        admitted: process.admitted + units,
        hasDenied: process.hasDenied || !isAllowed,
      },
      units,
    ]
  }

  /** Returns the cells after units were handed to a call, and the usage that the call reports. */
  function reported({ cells, isOutdated }: Process): readonly [readonly number[], PriorUsage | undefined] {
    let known: PriorUsage | undefined
    const after = change(cells, (copy) => {
      known = mirror.missingUsage(copy, 0, NOW, 0, () => isOutdated && rules.reportsLoss)
    })
    return [after, known]
  }

  function resolved(cells: readonly number[], { units, isCounted, known }: LateCall): readonly number[] {
    return rules.resolves
      ? change(cells, (copy) => mirror.own.resolve(copy, 0, units, isCounted, known?.admitted))
      : cells
  }

  /** Returns a process whose connection broke: units of late calls count as not counted. */
  function broken(process: Process): Process {
    const cells = process.late.reduce((before, call) => resolved(before, { ...call, isCounted: false }), process.cells)
    return { ...process, cells, late: [] }
  }

  const start: Process = {
    cells: new Array(mirror.cells).fill(0),
    admitted: 0,
    hasDenied: false,
    isFailing: false,
    isOutdated: false,
    call: undefined,
    late: [],
  }
  return { remaining, left, taken, answered, decided, reported, resolved, broken, start, cells: compiled.cells }
}
