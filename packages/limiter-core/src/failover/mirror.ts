import type { Answer, Charge, Clock, Known } from '../contracts.ts'
import { MemoryBackend } from '../memory/memory-backend.ts'
import type { SoleDecision } from '../sole-decision.ts'
import { type HeardAnswer, HeardAnswers } from './heard-answers.ts'
import type { MirrorStep } from './mirror-step.ts'

/** Bytes of what is kept of keys that another backend counts, for all limiters on it. */
const MAX_BYTES = 16 * 2 ** 20

/** What was heard of longer keys is not kept aside, so that it has a bound in bytes. */
const LONGEST_HEARD = 256

/** A charge as the mirror counts it. */
export type MirrorCharge = Charge & { readonly step: MirrorStep }

/**
 * What was last known of each key of a backend, and the counts that go on here while it does not answer. A generation
 * ends whenever counts of the backend may have been lost: from then on it is told of each key what it may not know.
 */
export class Mirror {
  /** Of the answers that come now. */
  generation = 1
  readonly #memory: MemoryBackend
  readonly #heard: HeardAnswers = new HeardAnswers((...heard) => this.#adopt(...heard))
  /** Until then keys may be known here of which the backend was not told. */
  #untoldUntil = Number.NEGATIVE_INFINITY
  #longestMs = 0

  constructor(clock: Clock) {
    this.#memory = new MemoryBackend(MAX_BYTES, clock, 'local')
  }

  /** A policy is mirrored: how long what is known of its keys can matter. */
  mirrors({ forgetsMs }: MirrorStep): void {
    this.#longestMs = Math.max(this.#longestMs, forgetsMs)
  }

  /** What the backend counted may be gone. */
  outdated(now: number): void {
    this.#heard.flush()
    this.generation++
    this.decidedHere(now)
  }

  /** Keys were or will be decided here that the backend does not know of. */
  decidedHere(now: number): void {
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

  /** The backend told what is used of a key, in answer to a call that was made in `generation`. */
  told(
    key: string,
    step: MirrorStep,
    count: string,
    used: number,
    resetAfterMs: number,
    now: number,
    generation: number,
  ): void {
    const heard = { used, resetAfterMs, now, generation }
    // else what was decided here must be compared with each answer
    if (key.length <= LONGEST_HEARD && !this.mayBeUntold(now)) this.#heard.note(key, step, count, heard)
    else {
      this.#heard.flush()
      this.#adopt(key, step, count, heard)
    }
  }

  /** Whether there is anything that the backend may not know: all that it costs on a healthy day. */
  mayBeUntold(now: number): boolean {
    return now < this.#untoldUntil
  }

  /** What the backend may not know of a key. */
  untold(key: string, step: MirrorStep, count: string, now: number): Known | undefined {
    this.#heard.flush()
    const { cells, at } = this.#memory.look(key, step, count, now)
    return step.untold(cells, at, now, this.generation)
  }

  #adopt(key: string, step: MirrorStep, count: string, { used, resetAfterMs, now, generation }: HeardAnswer): void {
    this.#memory.adopt({ key, step, count }, { used, resetAfterMs }, now, step.told(generation))
  }
}
