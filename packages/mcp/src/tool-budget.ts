import { badOption, type LimiterReport } from '@sluice/http'
import { subjectOf } from './denial.ts'
import type { McpCall } from './mcp-call.ts'

/** The budget of a run, such as `runBudget` of `@sluice/quotas/budgets` returns. */
export interface ToolBudget {
  /** Runs a tool, or rejects with the code `SLUICE_BUDGET_EXHAUSTED`. */
  call<Result>(
    options: { readonly name: string; readonly args?: unknown; readonly signal?: AbortSignal | undefined },
    work: () => Promise<Result>,
  ): Promise<Awaited<Result>>
}

/** One budget for all calls, or a function that returns the budget of a call; undefined for a call without one. */
export type ToolBudgetOption = ToolBudget | ((call: McpCall) => ToolBudget | undefined)

/** A function of the application that returns budgets has failed, so that the call is denied. */
class BudgetHookFailed extends Error {}

/** Throws `SLUICE_BAD_OPTION`. */
export function checkBudget(budget: unknown): void {
  if (budget === undefined || typeof budget === 'function') return
  if (typeof (budget as Partial<ToolBudget> | null)?.call === 'function') return
  throw badOption('limitTools: budget', budget, 'a budget such as runBudget({ … }), or a function that returns it')
}

/** Returns the budget of a call. Throws if the function of the application fails. */
export function budgetOf(budget: ToolBudgetOption, call: McpCall): ToolBudget | undefined {
  if (typeof budget !== 'function') return budget
  try {
    const own = budget(call)
    checkBudget(own)
    return own ?? undefined
  } catch (cause) {
    throw new BudgetHookFailed('budget failed', { cause })
  }
}

/** Whether the error of a call is a denial of its budget. Reports a function of the application that has failed. */
export function isExhausted(error: unknown, report: LimiterReport): boolean {
  const isFailed = error instanceof BudgetHookFailed
  if (isFailed) report.hookFailed('budget', error.cause, 'and the call is denied')
  return isFailed || (error as { readonly code?: unknown } | null)?.code === 'SLUICE_BUDGET_EXHAUSTED'
}

export function budgetText(call: McpCall): string {
  return `The budget of this run is used up: ${subjectOf(call)} was not completed. Do not call tools again, and answer with what you have.`
}
