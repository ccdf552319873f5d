import { SluiceError } from '@sluice/limiter-core/backend'
import { type AmountKind, decimalOf } from './run-amounts.ts'

/** What ended a budget: one of its bounds, a loop, `close`, or the `signal` of the application. */
export type RunBound = AmountKind | 'seconds' | 'loop' | 'closed' | 'signal'

/** How a budget ended. */
export interface RunEnd {
  readonly bound: RunBound
  /** The budget whose bound it is: `run`, or the names of children, such as `research/search`. */
  readonly budget: string
  /** The bound: dollars as a decimal number in a string, or tokens, calls, seconds or repeats. Undefined for `closed` and `signal`. */
  readonly limit?: string | number | undefined
  /** Name of the tool that was called in a loop. */
  readonly tool?: string | undefined
}

/** Rejection of a call that a budget does not allow, and `reason` of its aborted signal. */
export class BudgetExhausted extends SluiceError implements RunEnd {
  readonly bound: RunBound
  readonly budget: string
  readonly limit: string | number | undefined
  readonly tool: string | undefined

  constructor({ bound, budget, limit, tool }: RunEnd, options?: ErrorOptions) {
    super('SLUICE_BUDGET_EXHAUSTED', `budget '${budget}': ${textOf(bound, limit, tool)}`, options)
    this.name = 'BudgetExhausted'
    this.bound = bound
    this.budget = budget
    this.limit = limit
    this.tool = tool
  }
}

/** Returns the bound of a kind as `RunEnd` shows it. */
export function shownLimit(kind: AmountKind, limit: number): string | number {
  return kind === 'usd' ? decimalOf(limit) : limit
}

function textOf(bound: RunBound, limit: string | number | undefined, tool: string | undefined): string {
  if (bound === 'closed') return 'it was closed'
  if (bound === 'signal') return 'the run was aborted'
  if (bound === 'loop') return `'${tool}' was called with the same arguments more than ${limit} times`
  return `the bound of ${limit} ${bound} is reached`
}
