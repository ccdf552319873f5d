import type { Admitted, Answer, Backend, Charge, Clock, PriorUsage } from '../contracts.ts'
import { MemoryBackend } from '../memory/memory-backend.ts'
import type { SoleDecision } from '../sole-decision.ts'
import { type BufferedAnswer, MirrorBuffer } from './mirror-buffer.ts'
import type { MirrorStep } from './mirror-step.ts'
import type { OwedCalls } from './owed-calls.ts'
import type { Basis } from './own-units.ts'

/** Bytes of what is kept of keys that another backend counts, for all limiters on it. */
const MAX_BYTES = 16 * 2 ** 20

/** What was heard of longer keys is not kept aside, so that it has a bound in bytes. */
const LONGEST_HEARD = 256

/** A charge as the mirror counts it. */
export type MirrorCharge = Charge & { readonly step: MirrorStep }

type MirrorTarget = Pick<MirrorCharge, 'key' | 'step' | 'count'>

/**
 * What was last known of each key of a backend, and the counts that go on here while it does not answer. Knows of each
 * key what the backend may not know: what it told before counts of it may have been lost, and what was admitted here.
 */
export class Mirror {
  readonly #memory: MemoryBackend
  readonly #mayHaveLost: Backend['mayHaveLost']
  readonly #owed: OwedCalls
  /** What is on lease counts as used in the answers of a backend that holds leases, and is not counted yet. */
  readonly #tellsCounted: boolean
  readonly #heard: MirrorBuffer = new MirrorBuffer((...answer) => this.#adopt(...answer))
  /** What was heard until then may be lost, of a backend that does not say so itself. */
  #outdatedAt = Number.MIN_SAFE_INTEGER
  /** When a call last failed, the way to the backend broke, or a key was decided here. */
  #troubledAt = Number.MIN_SAFE_INTEGER
  /** Until then keys may be known here of which the backend was not told. */
  #untoldUntil = Number.NEGATIVE_INFINITY
  #longestMs = 0

  /** `owed`: adjustments that are made here, and not yet by the backend. */
  constructor(clock: Clock, backend: Backend, owed: OwedCalls) {
    this.#owed = owed
    this.#tellsCounted = backend.takeHeld === undefined
    this.#memory = new MemoryBackend(MAX_BYTES, clock, 'local')
    this.#mayHaveLost = backend.mayHaveLost && ((...asked) => backend.mayHaveLost?.(...asked) ?? true)
  }

  /** A policy is mirrored: how long what is known of its keys can matter. */
  mirrors({ forgetsMs }: MirrorStep): void {
    this.#longestMs = Math.max(this.#longestMs, forgetsMs)
  }

  /** What the backend counted may be gone. */
  outdated(now: number): void {
    this.#heard.flush()
    this.#outdatedAt = Math.max(now, after(this.#outdatedAt))
    this.decidedHere(now)
  }

  /** The instant of a call that is made now: later than whatever made earlier answers outdated. */
  callAt(now: number): number {
    return now > this.#outdatedAt ? now : after(this.#outdatedAt)
  }

  /** Keys were or will be decided here that the backend does not know of. */
  decidedHere(now: number): void {
    this.#troubledAt = Math.max(now, this.#outdatedAt)
    const until = now + this.#longestMs
    if (until > this.#untoldUntil) this.#untoldUntil = until
  }

  take(charges: readonly Charge[], now: number): Answer {
    this.#heard.flush()
    this.decidedHere(now)
    return this.#memory.take(charges, { now })
  }

  takeOne(key: string, step: MirrorStep, count: string, cost: number, now: number): SoleDecision {
    this.#heard.flush()
    this.decidedHere(now)
    return this.#memory.takeOne(key, step, count, cost, { now })
  }

  peek(charges: readonly Charge[], now: number): Answer {
    this.#heard.flush()
    return this.#memory.peek(charges, { now })
  }

  adjust(charges: readonly Charge[], takenAt: number, now: number): Answer {
    this.#heard.flush()
    this.decidedHere(now)
    return this.#memory.adjust(charges, takenAt, { now })
  }

  reset(charges: readonly Charge[]): void {
    this.#heard.flush()
    this.#memory.reset(charges)
  }

  /** The backend told what is used of a key, in answer to a call that was made at `heardAt` and took `moved` units. */
  record(
    key: string,
    step: MirrorStep,
    count: string,
    used: number,
    resetAfterMs: number,
    now: number,
    heardAt: number,
    moved: number,
  ): void {
    const answer = { used, resetAfterMs, now, heardAt }
    // else what was decided here must be compared with each answer
    if (key.length <= LONGEST_HEARD && !this.hasUnreported(now)) this.#heard.note(key, step, count, answer)
    else {
      this.#heard.flush()
      this.#adopt(key, step, count, answer, this.#tellsCounted ? moved : undefined)
    }
  }

  /** Whether there is anything that the backend may not know: all that it costs on a healthy day. */
  hasUnreported(now: number): boolean {
    return now < this.#untoldUntil
  }

  /** What the backend may not know of a key. Whoever cannot tell what was admitted hands it back. */
  known(target: MirrorTarget, now: number): PriorUsage | undefined {
    this.#heard.flush()
    const { key, step, count } = target
    const { cells, at } = this.#memory.look(key, step, count, now)
    const mayHaveLost = (heardAt: number): boolean => this.#isOutdated(target, heardAt, now)
    return step.known(cells, at, now, { mayHaveLost, owed: this.#owed.unitsOf(target) })
  }

  /** Takes back what could not be told, and what the backend knows of it. */
  handBack({ key, step, count }: MirrorTarget, admitted: Admitted, now: number, basis: Basis): void {
    this.decidedHere(now)
    const { cells, at } = this.#memory.look(key, step, count, now)
    step.own.handBack(cells, at, admitted, now, basis)
  }

  #isOutdated(target: MirrorTarget, heardAt: number, now: number): boolean {
    if (heardAt > this.#troubledAt) return false
    if (!this.#mayHaveLost) return heardAt <= this.#outdatedAt
    return this.#mayHaveLost(target, heardAt === 0 ? Number.POSITIVE_INFINITY : Math.max(0, now - heardAt))
  }

  #adopt(key: string, step: MirrorStep, count: string, answer: BufferedAnswer, moved?: number): void {
    const { used, resetAfterMs, now, heardAt } = answer
    const target = { key, step, count }
    const told = step.told(heardAt, this.#owed.unitsOf(target), moved)
    this.#memory.adopt(target, { used, resetAfterMs }, now, told)
  }
}

/** The next instant that a number can tell apart. */
function after(instant: number): number {
  return instant + Math.max(Math.abs(instant), Number.EPSILON) * Number.EPSILON
}
