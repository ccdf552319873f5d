import type { CompiledPolicy, CountedKey, Fund, MaybePromise, PriorUsage } from '@sluice/limiter-core/backend'

/** A request of a process about its lease of one key: the units that it has spent, keeps and wants. */
export interface LeaseRequest extends CountedKey {
  /** Unique number of the lease. */
  readonly owner: number
  /** Increases with each request of an owner. A request that arrives after a later one is ignored. */
  readonly seq: number
  /**
   * Sequence number of the last request whose reply arrived. `spent` starts there, so that units of a request whose
   * reply was lost are not charged twice.
   */
  readonly base: number
  /** Units spent since `base`. */
  readonly spent: number
  /** Unspent units that stay leased. All other units of the owner become free. */
  readonly keep: number
  /** Maximum number of additional units to grant. With 0, the request only reports and extends the lease. */
  readonly want: number
  /** The part of `want` for which requests are waiting. Only this part may exceed `fraction` of the free units. */
  readonly demand: number
  /** Nothing is granted if fewer units than this are free. */
  readonly minimum: number
  /** Units to which `retryAfterMs` of the grant refers. */
  readonly need: number
  /** Usage that the ledger may lack. It includes charged units and no leased units. */
  readonly known?: PriorUsage | undefined
}

/** Reply of the ledger to a `LeaseRequest`. */
export interface LeaseGrant {
  readonly granted: number
  /** Units that are neither charged nor leased after the grant. */
  readonly free: number
  /** Units charged by all processes. */
  readonly charged: number
  /** Whole milliseconds until `need` units may be free; 0 if they are. An estimate while units are leased. */
  readonly retryAfterMs: number
  /**
   * Milliseconds until all charged units have expired; 0 if there are none. For a policy with a calendar: milliseconds
   * until the end of the period, even if nothing is charged.
   */
  readonly resetAfterMs: number
  /** Whole milliseconds until fewer units are charged; 0 if there are none, Infinity for never. Default: `resetAfterMs`. */
  readonly availableAfterMs?: number | undefined
  /** Time of the reply by the ledger's clock. */
  readonly now: number
  /** Milliseconds until the end of the period, if this lease ends earlier than the terms say. */
  readonly leaseMs?: number | undefined
  /** Units that the key has in this period, an integer, if they differ from the capacity of the policy. */
  readonly capacity?: number | undefined
  /** The fund of the leased units, or the insufficient fund if nothing was granted. */
  readonly fund?: Fund | undefined
}

/** Duration and size of leases. All processes must use the same terms. */
export interface LeaseTerms {
  /** Milliseconds for which the owner may spend a lease. The ledger holds it 5 % longer. */
  readonly leaseMs: number
  /** Fraction of the free units that one owner may lease in addition to the units for which its requests wait. */
  readonly fraction: number
  /**
   * Maximum fraction of the capacity that one owner holds without waiting requests. A crash costs no more than that.
   * Default: `fraction`.
   */
  readonly heldFraction?: number | undefined
}

/**
 * Stores the charged units of each key and the leased units of each owner. A leased unit counts as used from its grant
 * until it is charged or returned. If the owner of a lease does not report before its end, the whole lease is charged.
 */
export interface LeaseLedger {
  /**
   * Returns one reply per request, in the same order; an error if only that key failed. The caller does not wait after
   * `deadlineAt` (process time), and requests that arrive later must have no effect.
   */
  request(asks: readonly LeaseRequest[], deadlineAt: number): MaybePromise<readonly (LeaseGrant | Error)[]>
  /** See `Backend.mayHaveLost`. Without this method the ledger never loses counts. */
  mayHaveLost?(counted: CountedKey, ageMs: number): boolean
  close?(): void
}

/**
 * Factor by which a ledger holds a lease longer than its owner, because the clocks of two machines do not run at
 * exactly the same speed.
 */
export const LEASE_GRACE_FACTOR = 1.05

/** Number of reports during the duration of a lease. */
export const REPORTS_PER_LEASE = 3

/** Minimum duration of a lease. */
const MIN_LEASE_MS = 100
/**
 * Minimum number of lease durations in a window. Spent units are charged up to a third of a lease late, which must be a
 * small part of the window.
 */
const LEASES_IN_WINDOW = 8

/** Returns the duration of leases of a policy: `leaseMs`, at most an eighth of its shortest window, at least 100 ms. */
export function leaseMsOf(compiled: CompiledPolicy, { leaseMs }: LeaseTerms): number {
  const { policy, variants } = compiled
  const shortestMs = Math.min(policy.windowMs, ...(variants?.map((one) => one.compiled.policy.windowMs) ?? []))
  return Math.min(leaseMs, Math.max(MIN_LEASE_MS, shortestMs / LEASES_IN_WINDOW))
}

/** Minimum size of a lease that is worth its calls. */
const MIN_LEASE_UNITS = 8
/** Maximum length of a key that is leased, so that the size of the lease table in bytes is bounded. */
export const MAX_LEASED_KEY_LENGTH = 256

/**
 * Whether keys of a policy are leased: `fraction` of the capacity must be at least 8 units, and the window at least
 * 800 ms. `sliding-log` is never leased, because it finds the take of a refund by its exact time. Policies with
 * holds are not, because a crash must not charge the units that are held, and policies that book turns are not, because
 * all processes share one queue.
 */
export function isLeased(compiled: CompiledPolicy, { fraction }: LeaseTerms): boolean {
  return (
    compiled.capacity * fraction >= MIN_LEASE_UNITS &&
    compiled.policy.windowMs >= MIN_LEASE_MS * LEASES_IN_WINDOW &&
    !isLog(compiled) &&
    !compiled.holds &&
    !compiled.bookings
  )
}

function isLog({ policy, variants }: CompiledPolicy): boolean {
  return policy.algorithm === 'sliding-log' || variants?.some(({ compiled }) => isLog(compiled)) === true
}

/** Returns how many of the free units a ledger grants. */
export function grantOf({ want, demand, minimum }: LeaseRequest, free: number, fraction: number): number {
  if (free < minimum) return 0
  return Math.max(0, Math.min(want, free, Math.max(demand, Math.floor(free * fraction))))
}

/** Whether a request arrived after a later one of the same owner, so that its contents are outdated. */
export function isStale({ seq }: LeaseRequest, lease: { readonly seq: number } | undefined): boolean {
  return lease !== undefined && seq <= lease.seq
}

/** Returns the units that the owner spent and that were not charged yet. `lease` is its last request as stored. */
export function spentSince(
  { base, spent }: LeaseRequest,
  lease: { readonly base: number; readonly charged: number } | undefined,
): number {
  return spent - (lease?.base === base ? lease.charged : 0)
}
