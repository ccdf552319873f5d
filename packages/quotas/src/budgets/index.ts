export {
  type LearnedCost,
  type LearnedReserve,
  type LearnedReserveOptions,
  learnedReserve,
} from './learned/learned-reserve.ts'
export type { ReserveStats } from './learned/reserve-class.ts'
export { type Prices, type PriceTable, type PriceTableOptions, priceTable, type Usage } from './prices/price-table.ts'
export { runBudget } from './run/create-run-budget.ts'
export { BudgetExhausted, type RunBound, type RunEnd } from './run/level/run-end.ts'
export type { ChildOptions, LoopOptions, OnExhausted, RunBounds, RunBudgetOptions } from './run/level/run-options.ts'
export type {
  GuardOptions,
  RunAmounts,
  RunBudget,
  RunReport,
  WorkCost,
  WorkOptions,
} from './run/run-budget.ts'
