import type { CompiledPolicy, CountedKey, Fund, MaybePromise, PriorUsage } from '../contracts.ts'

/** A request of a process about its lease of one key: what it spent, what it keeps and what it wants. */
export interface LeaseAsk extends CountedKey {
  /** Unique number of the lease. */
  readonly owner: number
  /** Increases with each request of an owner. A ledger that has seen a later request for this key does nothing. */
  readonly seq: number
  /** Sequence number from which `spent` is counted, so that a request whose reply was lost is not charged twice. */
  readonly base: number
  /** Units spent since `base`. */
  readonly spent: number
  /** Unspent units that stay leased; other units of the owner become free. */
  readonly keep: number
  /** Additional units wanted, at most. 0 only reports, and extends the lease. */
  readonly want: number
  /** Units for which requests are waiting. Only these may exceed the owner's share of the remaining units. */
  readonly demand: number
  /** Fewer than this are of no use. */
  readonly minimum: number
  /** Units for which the wait time is requested. */
  readonly need: number
  /** Knowledge about charged units that the ledger may not have; never about leased units. */
  readonly known?: PriorUsage | undefined
}

export interface LeaseGrant {
  readonly granted: number
  /** Units that fit now and are not leased. */
  readonly free: number
  /** Units charged by any process. */
  readonly charged: number
  /** Whole ms until `need` may be free; 0 where it is. A guess while units are on lease. */
  readonly retryAfterMs: number
  /**
   * Milliseconds until the charged units expire; 0 if there are none. With a calendar: until the end of the period,
   * whatever is charged.
   */
  readonly resetAfterMs: number
  /** Milliseconds, an integer, until fewer units are charged; 0 if there are none. Default: `resetAfterMs`. */
  readonly availableAfterMs?: number | undefined
  /** The ledger's reading of its clock. */
  readonly now: number
  /** Longest duration of this lease in milliseconds, if it is shorter than the terms: until the end of its period. */
  readonly leaseMs?: number | undefined
  /** Largest number of units that the key has in this period, an integer, if it differs from the policy. */
  readonly capacity?: number | undefined
  /** The fund that the leased units come from, or, if none were granted, the fund that was insufficient. */
  readonly fund?: Fund | undefined
}

/** Duration and size of leases. All processes need the same terms. */
export interface LeaseTerms {
  /** Milliseconds that an owner may spend a lease; the ledger holds it a twentieth longer. */
  readonly leaseMs: number
  /** Part of the remaining units that one owner may lease beyond what its requests wait for. */
  readonly fraction: number
}

/**
 * Stores the charged units of each key, and which owner holds how many leased units. A leased unit counts as used
 * from its grant until it is charged or returned. If the owner of a lease does not report until its end, the whole
 * lease is charged.
 */
export interface LeaseLedger {
  /**
   * Returns one reply per request, in order; an error if only that key is affected. After `deadlineAt` (process time)
   * the caller no longer waits, and requests that arrive later must change nothing.
   */
  ask(asks: readonly LeaseAsk[], deadlineAt: number): MaybePromise<readonly (LeaseGrant | Error)[]>
  /** See `Backend.mayHaveLost`. Without this method the ledger never loses counts. */
  mayHaveLost?(counted: CountedKey, ageMs: number): boolean
  close?(): void
}

/**
 * Factor by which a ledger holds a lease longer than its owner, because the clocks of two machines do not run at
 * exactly the same speed.
 */
export const GRACE = 1.05

/** Number of reports during the life of a lease. */
export const TELLS = 3

/** The shortest lease. */
const LEAST_LEASE_MS = 100
/**
 * Minimum number of leases in a window. Spent units are charged up to a third of a lease late, which must be a small
 * part of the window.
 */
const LEASES_IN_WINDOW = 8

/** Returns how long leases of a policy last: `leaseMs`, at most an eighth of its shortest window. */
export function leaseMsOf(compiled: CompiledPolicy, { leaseMs }: LeaseTerms): number {
  const { policy, variants } = compiled
  const shortestMs = Math.min(policy.windowMs, ...(variants?.map((one) => one.compiled.policy.windowMs) ?? []))
  return Math.min(leaseMs, Math.max(LEAST_LEASE_MS, shortestMs / LEASES_IN_WINDOW))
}

/** Fewer units than this are not worth a lease. */
const LEAST_LEASE_UNITS = 8
/** Longer keys are not leased, so that the table of leases is bounded in bytes. */
export const LONGEST_LEASED_KEY = 256

/**
 * Whether keys of a policy are leased at all: where `fraction` of the capacity is 8 units or more and the window 800 ms or more.
 * The exact log is not, since it finds a refund by its instant.
 */
export function isLeased(compiled: CompiledPolicy, { fraction }: LeaseTerms): boolean {
  return (
    compiled.capacity * fraction >= LEAST_LEASE_UNITS &&
    compiled.policy.windowMs >= LEAST_LEASE_MS * LEASES_IN_WINDOW &&
    !isLog(compiled)
  )
}

function isLog({ policy, variants }: CompiledPolicy): boolean {
  return policy.algorithm === 'sliding-log' || variants?.some(({ compiled }) => isLog(compiled)) === true
}

/** Returns the units that a ledger grants from the free units. */
export function grantOf({ want, demand, minimum }: LeaseAsk, free: number, fraction: number): number {
  if (free < minimum) return 0
  return Math.max(0, Math.min(want, free, Math.max(demand, Math.floor(free * fraction))))
}
