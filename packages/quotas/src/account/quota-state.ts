import { SluiceError } from '@sluice/limiter-core/backend'

/** Stored state of one key under one quota: periods, top-ups, leases, reservations and holds. Times are epoch ms. */
export interface QuotaState {
  /** The last few periods, ordered by start. */
  periods: PeriodState[]
  /** Ordered by purchase. */
  topUps: TopUpState[]
  leases: LeaseState[]
  reservations: ReservationState[]
  /** Ordered by end. */
  holds: HoldState[]
  /** Processes that wrote recently, so that the outcome of a write without a reply can be determined. */
  writers: WriterState[]
  /** Time of the last write of any writer removed from `writers`; 0 if none was removed. */
  forgottenAt: number
}

export interface PeriodState {
  readonly label: string
  readonly startsAt: number
  readonly endsAt: number
  /** Time zone of the key when the period began, if each key has its own. */
  readonly zone?: string
  /** Units included by the plan that used the account last. */
  limit: number
  /** Units carried over from the previous period. */
  carried: number
  /** Units spent, including units beyond the limit. */
  used: number
  /** Units charged for leases that ended without a report. */
  stranded: number
  /** Part of `used` and `stranded` that was paid from top-ups. */
  toppedUp: number
  /** Highest percentage for which a notice was written; 0 for none. */
  noticed: number
}

export interface TopUpState {
  /** Token of the purchase. */
  readonly token: string
  readonly units: number
  left: number
  /** Null if the top-up never expires. */
  readonly endsAt: number | null
}

export interface LeaseState {
  readonly owner: number
  /** Label of the period to which the units belong. */
  period: string
  /** Units on lease that are neither charged nor returned. */
  units: number
  endsAt: number
  seq: number
  base: number
  /** Units charged since `base`. */
  charged: number
  /** Units charged because the lease ended without a report. */
  settled: number
  /** Opening in which the owner requested it, see `QuotaTable`. */
  readonly opening?: string | undefined
}

export interface ReservationState {
  readonly id: string
  readonly period: string
  readonly units: number
  readonly endsAt: number
  /** When it was reserved, by the database's clock; missing in reservations of earlier releases. */
  readonly madeAt?: number
}

/** Units that are held until one time; see `AccountHolds`. */
export interface HoldState {
  readonly endsAt: number
  units: number
}

export interface WriterState {
  readonly writer: string
  readonly seq: number
  readonly at: number
  /** Total units charged by the writer, by the label of the period, without refunds. */
  readonly charged?: Readonly<Record<string, number>>
}

/** Version of the format that `serializeState` writes. */
const VERSION = 1

export function emptyState(): QuotaState {
  return { periods: [], topUps: [], leases: [], reservations: [], holds: [], writers: [], forgottenAt: 0 }
}

/** Serializes a state. Equal states have equal texts. */
export function serializeState(state: QuotaState): string {
  const { periods, topUps, leases, reservations, holds, writers, forgottenAt } = state
  // without holds, the text is that of earlier releases
  const held = holds.length > 0 ? { holds } : {}
  return JSON.stringify({ v: VERSION, periods, topUps, leases, reservations, ...held, writers, forgottenAt })
}

/** Parses a stored state. Throws `SLUICE_COUNTER_TABLES` if a later release wrote it. */
export function parseState(text: string): QuotaState {
  const { v, ...state } = JSON.parse(text) as QuotaState & { readonly v: number }
  // states of earlier releases have no forgottenAt and no holds
  if (v === VERSION) return { ...state, holds: state.holds ?? [], forgottenAt: state.forgottenAt ?? 0 }
  throw new SluiceError('SLUICE_COUNTER_TABLES', `quota account: expected version ${VERSION}, received version ${v}`)
}

/** Returns the units of a period without top-ups. */
export function included({ limit, carried }: PeriodState): number {
  return limit + carried
}

/** Returns the included units of a period that are not charged. */
export function includedLeft(period: PeriodState): number {
  return Math.max(0, included(period) - (period.used + period.stranded - period.toppedUp))
}
