export type { LeasedCharge, LeasedCounter, LeasedKey } from '@sluice/fleet/leases'
export type {
  AlgorithmName,
  Answer,
  Backend,
  BanInput,
  Charge,
  CompiledPolicy,
  CountedKey,
  Decision,
  Duration,
  HeldUnits,
  Interruption,
  LimitOverrides,
  MaybePromise,
  Metric,
  Mode,
  Moment,
  Observer,
  PolicyCalendar,
  PolicyInput,
} from '@sluice/limiter-core'
export type { ReservationEnd } from './account/account-reservations.ts'
export { createQuotas, type QuotasOptions } from './create-quotas.ts'
export type { QuotaName } from './open-quotas.ts'
export { type QuotaOptions, quota } from './quota.ts'
export type { QuotaBalance } from './quota-balance.ts'
export type { StrandedLease } from './quota-credits.ts'
export type { QuotaForecast } from './quota-forecast.ts'
export type { QuotaUsed } from './quota-notices.ts'
export type { RefundOptions, ReserveOptions, TopUpOptions } from './quota-options.ts'
export type { QuotaUsage, UsageOptions } from './quota-reports.ts'
export type { QuotaReservation } from './quota-reservations.ts'
export type { Quotas } from './quotas.ts'
export { type WaterfallOptions, waterfall } from './waterfall/create-waterfall.ts'
export { type Credits, type CreditsOptions, credits } from './waterfall/credits.ts'
export type { WaterfallInput } from './waterfall/open-parts.ts'
export type {
  Waterfall,
  WaterfallRefundOptions,
  WaterfallReserveOptions,
  WaterfallTakeOptions,
} from './waterfall/waterfall.ts'
export type {
  WaterfallDecision,
  WaterfallPart,
  WaterfallRefund,
  WaterfallReservation,
  WaterfallTake,
} from './waterfall/waterfall-answers.ts'
