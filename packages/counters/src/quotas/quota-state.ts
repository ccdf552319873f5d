import { SluiceError } from '@sluice/limiter-core/backend'

/** What is kept of one key under one quota: its periods, its top-ups, and what is not decided yet. Times are epoch ms. */
export interface QuotaState {
  /** By their start; the last few. */
  periods: PeriodState[]
  /** In the order in which they were bought. */
  topUps: TopUpState[]
  leases: LeaseState[]
  reservations: ReservationState[]
  /** Who wrote lately, so that a write of which no answer came is found again. */
  writers: WriterState[]
  /** When the last of those wrote that are not listed any more; 0 where all are. */
  forgottenAt: number
}

export interface PeriodState {
  readonly label: string
  readonly startsAt: number
  readonly endsAt: number
  /** What the plan includes; that of the plan which asked last. */
  limit: number
  /** What was left of the period before. */
  carried: number
  /** Units that were spent, those beyond the limit too. */
  used: number
  /** Units that were charged for leases whose owners never reported. */
  stranded: number
  /** Units of both that top-ups paid for. */
  toppedUp: number
  /** The largest share, in per cent, of which a notice was written; 0 for none. */
  noticed: number
}

export interface TopUpState {
  /** Under which it was bought. */
  readonly token: string
  readonly units: number
  left: number
  /** Infinity is null. */
  readonly endsAt: number | null
}

export interface LeaseState {
  readonly owner: number
  /** Label of the period that its units are of. */
  period: string
  /** On lease, neither spent nor returned. */
  units: number
  endsAt: number
  seq: number
  base: number
  /** Units charged since `base`. */
  charged: number
  /** Of a lease that ended without a report: units that were charged for it. */
  settled: number
}

export interface ReservationState {
  readonly id: string
  readonly period: string
  readonly units: number
  readonly endsAt: number
  /** By the clock of the database; not there where an earlier release reserved. */
  readonly madeAt?: number
}

export interface WriterState {
  readonly writer: string
  readonly seq: number
  readonly at: number
  /** Units that it charged in all, by the label of their period; without what it gave back under a token. */
  readonly charged?: Readonly<Record<string, number>>
}

/** Of what `textOf` writes. */
const VERSION = 1

export function emptyState(): QuotaState {
  return { periods: [], topUps: [], leases: [], reservations: [], writers: [], forgottenAt: 0 }
}

/** As it is stored. Equal texts are equal states. */
export function textOf({ periods, topUps, leases, reservations, writers, forgottenAt }: QuotaState): string {
  return JSON.stringify({ v: VERSION, periods, topUps, leases, reservations, writers, forgottenAt })
}

/** The state of a stored text. Throws `SLUICE_COUNTER_TABLES` for one of a later release. */
export function stateOf(text: string): QuotaState {
  const { v, ...state } = JSON.parse(text) as QuotaState & { readonly v: number }
  // what earlier releases wrote lacks it
  if (v === VERSION) return { ...state, forgottenAt: state.forgottenAt ?? 0 }
  throw new SluiceError('SLUICE_COUNTER_TABLES', `a quota: expected version ${VERSION}, received version ${v}`)
}
