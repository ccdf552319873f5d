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
  /** Milliseconds until what is charged is forgotten; 0 where nothing is. With a calendar to the end of the period, whatever is charged. */
  readonly resetAfterMs: number
  /** Whole ms until less is charged; 0 where nothing is. `resetAfterMs` where it is not said. */
  readonly availableAfterMs?: number | undefined
  /** The ledger's reading of its clock. */
  readonly now: number
  /** Milliseconds that this lease lasts at most, where that is less than the terms say: to the end of its period. */
  readonly leaseMs?: number | undefined
  /** The most whole units that the key has in this period, where it has more or fewer than the policy says. */
  readonly capacity?: number | undefined
  /** From which of both the units on lease come, or, where nothing was granted, which was missing. */
  readonly fund?: Fund | undefined
}

/** How long leases last, and how large one may be. All processes of a fleet need the same. */
export interface LeaseTerms {
  /** Milliseconds; a ledger holds a lease a twentieth longer than its owner spends of it. */
  readonly leaseMs: number
  /** The part of what is left that one owner gets beyond what its requests wait for. */
  readonly fraction: number
}

/**
 * Knows of each key what was charged, and who holds how many units on lease. A unit on lease counts as used from its
 * grant until it is charged or comes back; a lease whose owner is silent until its end is charged whole.
 */
export interface LeaseLedger {
  /**
   * One answer for each ask, in their order; an error where only this key is at fault. After `deadlineAt` of the process
   * clock nobody waits: asks that arrive later must change nothing.
   */
  ask(asks: readonly LeaseAsk[], deadlineAt: number): MaybePromise<readonly (LeaseGrant | Error)[]>
  /** As `Backend.mayHaveLost`; of a ledger that does not say so nothing ever is. */
  mayHaveLost?(counted: CountedKey, ageMs: number): boolean
  close?(): void
}

/** How much longer than its owner a ledger holds a lease: clocks of two machines do not run equally fast. */
export const GRACE = 1.05

/** How often in its life a lease is told of. */
export const TELLS = 3

/** The shortest lease. */
const LEAST_LEASE_MS = 100
/** Windows in a lease: what is spent is charged up to a third of a lease late, which must be little of a window. */
const LEASES_IN_WINDOW = 8

/** How long leases of a policy last: as long as is said, and an eighth of its shortest window at most. */
export function leaseMsOf(compiled: CompiledPolicy, { leaseMs }: LeaseTerms): number {
  const { policy, variants } = compiled
  const shortestMs = Math.min(policy.windowMs, ...(variants?.map((one) => one.compiled.policy.windowMs) ?? []))
  return Math.min(leaseMs, Math.max(LEAST_LEASE_MS, shortestMs / LEASES_IN_WINDOW))
}

/** Fewer units than this are not worth a lease. */
const LEAST_LEASE_UNITS = 8
/** Longer keys are not leased, so that a table of leases has a bound in bytes. */
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

/** Units that a ledger grants of what is free. */
export function grantOf({ want, demand, minimum }: LeaseAsk, free: number, fraction: number): number {
  if (free < minimum) return 0
  return Math.max(0, Math.min(want, free, Math.max(demand, Math.floor(free * fraction))))
}
