import type { Answer, Backend, BackendVerdict, Clock, CompiledPolicy, CountedKey, PriorUsage } from '../contracts.ts'
import { MemoryBackend } from '../memory/memory-backend.ts'
import {
  type FailoverCharge,
  type FailoverKey,
  type FailureRule,
  type MirrorCharge,
  type MirrorCounter,
  remoteKey,
} from './failover-counter.ts'
import { MirrorBuffer } from './mirror-buffer.ts'
import { type BufferedAnswer, MirrorPolicy } from './mirror-policy.ts'
import { mirroredCharge, withFiniteWaits } from './mirrored-charges.ts'
import type { OwedCalls } from './owed-calls.ts'
import type { Basis } from './own-units.ts'

/** Memory for the mirrored keys of one backend, in bytes, shared by all limiters on it. */
const MAX_BYTES = 16 * 2 ** 20

/** Longest key in the buffer, in UTF-16 units, so that the buffer is bounded in bytes. */
const LONGEST_BUFFERED = 256

type MirroredKey = CountedKey<MirrorCounter>

/**
 * The last known usage of each key of a backend, and the counts of this process while the backend does not answer. For
 * each key it also has the usage that the backend may lack: counts that it reported and may have lost since, and units
 * that were admitted here. It is the failure rule `local`.
 */
export class Mirror implements FailureRule {
  readonly source = 'local'
  readonly clock: Clock
  readonly #memory: MemoryBackend
  readonly #backend: Backend
  readonly #owed: OwedCalls
  readonly #buffer: MirrorBuffer = new MirrorBuffer((...answer) => this.#adopt(...answer))
  /** Counts reported up to this time may be lost. Used for backends without `mayHaveLost`. */
  #outdatedAt = Number.MIN_SAFE_INTEGER
  /** Time of the last failed call, interruption or local decision. Counts reported later are not lost. */
  #troubledAt = Number.MIN_SAFE_INTEGER
  /** Time until which the mirror may have units that were not reported to the backend. */
  #unreportedUntil = Number.NEGATIVE_INFINITY
  #longestMs = 0

  /** `owed`: adjustments that are applied here and not yet by the backend. */
  constructor(clock: Clock, backend: Backend, owed: OwedCalls) {
    this.clock = clock
    this.#owed = owed
    this.#memory = new MemoryBackend(MAX_BYTES, clock, { name: 'local', counted: false })
    this.#backend = backend
  }

  /** Opens a counter for a policy. `share`: part of the limit that this process admits; above 0, at most 1. */
  open(compiled: CompiledPolicy, name: string, share: number): MirrorCounter {
    const mirrored = new MirrorPolicy(compiled.bookings?.inner ?? compiled, share, this.#backend.passed !== undefined)
    this.#longestMs = Math.max(this.#longestMs, mirrored.forgetsMs)
    return this.#memory.open(mirrored, name)
  }

  /** Marks all counts that the backend has reported as possibly lost. */
  markOutdated(now: number): void {
    this.#buffer.flush()
    this.#outdatedAt = Math.max(now, after(this.#outdatedAt))
    this.markDecidedLocally(now)
  }

  /** Returns the time of a new call: `now`, or slightly later if earlier answers were marked as lost at that time. */
  callAt(now: number): number {
    return now > this.#outdatedAt ? now : after(this.#outdatedAt)
  }

  /** Records that this process decides requests which the backend does not count. */
  markDecidedLocally(now: number): void {
    this.#troubledAt = Math.max(now, this.#outdatedAt)
    const until = now + this.#longestMs
    if (until > this.#unreportedUntil) this.#unreportedUntil = until
  }

  take(charges: readonly FailoverCharge[], now: number, basis: Basis): Answer {
    this.markDecidedLocally(now)
    return this.#answer(charges, basis, (mirrored) => this.#memory.takeAll(mirrored, { now }))
  }

  peek(charges: readonly FailoverCharge[], now: number): Answer {
    return this.#answer(charges, 'counted', (mirrored) => this.#memory.peekAll(mirrored, { now }))
  }

  adjust(charges: readonly FailoverCharge[], takenAt: number, now: number, basis: Basis): Answer {
    this.markDecidedLocally(now)
    return this.#answer(charges, basis, (mirrored) => this.#memory.adjustAll(mirrored, takenAt, { now }))
  }

  reset(keys: readonly FailoverKey[]): void {
    this.#buffer.flush()
    this.#memory.resetAll(keys.map(mirroredKey))
  }

  /** Stores what the backend reported about a key in reply to a call made at `calledAt` that took `moved` units. */
  record(key: FailoverKey, verdict: BackendVerdict, now: number, calledAt: number, moved: number): void {
    const { capacity, policy, bookings } = key.counter.compiled
    const { resetAfterMs, spent, held = 0 } = verdict
    // booked turns are lost with the counts of their backend
    const remaining = bookings && spent !== undefined ? capacity - spent : verdict.remaining
    // a calendar period may have more units left than the limit
    const left = policy.calendar && Number.isFinite(remaining) ? Math.min(remaining, capacity) : remaining
    // NaN and Infinity would never expire
    if (!(left <= capacity && resetAfterMs <= Number.MAX_SAFE_INTEGER)) return
    const counted = mirroredKey(key)
    const answer = { used: Math.min(capacity, capacity - left), held, resetAfterMs, now, calledAt }
    // with unreported units, each answer must be compared with the local count
    if (counted.key.length <= LONGEST_BUFFERED && !this.hasUnreported(now)) this.#buffer.note(counted, answer)
    else {
      this.#buffer.flush()
      // backends with leases also report leased units as used
      this.#adopt(counted, answer, this.#backend.takeHeld ? undefined : moved)
    }
  }

  /** Whether there may be units that the backend does not have. While the backend works, takes only check this. */
  hasUnreported(now: number): boolean {
    return now < this.#unreportedUntil
  }

  /**
   * Returns the usage of a key that the backend may lack, or undefined. A caller that cannot report admitted units must
   * pass them to `handBack`.
   */
  missingUsage(key: FailoverKey, now: number): PriorUsage | undefined {
    this.#buffer.flush()
    const counted = mirroredKey(key)
    const { cells, at } = this.#memory.look(counted, now)
    const mayHaveLost = (calledAt: number): boolean => this.#isOutdated(remoteKey(key), calledAt, now)
    return counted.counter.compiled.missingUsage(cells, at, now, this.#owed.unitsOf(counted), mayHaveLost)
  }

  /** Takes back units that could not be reported. `basis`: whether the backend may have counted them. */
  handBack(key: FailoverKey, known: PriorUsage | undefined, now: number, basis: Basis): void {
    const admitted = known?.admitted
    if (!admitted) return
    const counted = mirroredKey(key)
    this.markDecidedLocally(now)
    const { cells, at } = this.#memory.look(counted, now)
    counted.counter.compiled.own.handBack(cells, at, admitted, now, basis)
  }

  /** Handles a late reply to a take of `units` that was decided here, and to a call that reported `known`. */
  resolve(key: FailoverKey, known: PriorUsage | undefined, units: number, isCounted: boolean): void {
    this.#buffer.flush()
    const counted = mirroredKey(key)
    const { cells, at } = this.#memory.look(counted, this.clock.now())
    counted.counter.compiled.own.resolve(cells, at, units, isCounted, known?.admitted)
  }

  #answer(
    charges: readonly FailoverCharge[],
    basis: Basis,
    call: (mirrored: readonly MirrorCharge[]) => Answer,
  ): Answer {
    this.#buffer.flush()
    const mirrored = charges.map((charge) => mirroredCharge(charge, basis))
    return withFiniteWaits(mirrored, call(mirrored))
  }

  #isOutdated(remote: CountedKey, calledAt: number, now: number): boolean {
    if (calledAt > this.#troubledAt) return false
    if (!this.#backend.mayHaveLost) return calledAt <= this.#outdatedAt
    return this.#backend.mayHaveLost(remote, calledAt === 0 ? Number.POSITIVE_INFINITY : Math.max(0, now - calledAt))
  }

  #adopt(counted: MirroredKey, answer: BufferedAnswer, moved?: number): void {
    const { used, resetAfterMs, now } = answer
    const adopter = counted.counter.compiled.adopterOf(answer, this.#owed.unitsOf(counted), moved)
    this.#memory.adopt(counted, { used, resetAfterMs }, now, adopter)
  }
}

function mirroredKey({ key, counter }: FailoverKey): MirroredKey {
  return { key, counter: counter.mirror }
}

/** Returns the next representable number. */
function after(instant: number): number {
  return instant + Math.max(Math.abs(instant), Number.EPSILON) * Number.EPSILON
}
