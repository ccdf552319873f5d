import type { PermitOutcome } from '@sluice/limiter-core'
import type { LimitAlgorithm } from './limit-algorithm.ts'
import type { RunningWork, Work } from './running-work.ts'
import { WindowBuilder } from './sample-window.ts'

const LEAST_SAMPLES = 10
/** Weight of the last work in the time that it usually takes. */
const USUAL_WEIGHT = 0.2
/** How much longer work takes than until its client left. */
const UNENDED = 1.5
/** The resolution of clocks: work that takes no time at all would make the quotients of durations undefined. */
const SHORTEST_MS = 0.001

export interface LimitBounds {
  readonly min: number
  readonly max: number
  readonly initial: number
}

/** The limit of one key. */
export class LearnedLimit {
  readonly #bounds: LimitBounds
  readonly #algorithm: LimitAlgorithm
  #exact: number
  #window: WindowBuilder
  #meanMs: number | undefined
  /** Long work that has ended since the window began. */
  #longEnded = 0
  current: number
  /** Time in ms that work usually takes; 0 if none has ended. */
  usualMs = 0

  constructor(algorithm: LimitAlgorithm, bounds: LimitBounds, now: number) {
    this.#algorithm = algorithm
    this.#bounds = bounds
    this.#exact = bounds.initial
    this.current = bounds.initial
    this.#window = this.#newWindow(now)
  }

  /** Mean duration in ms of the work of the last window, or of the first one so far; 0 if no work has ended. */
  get meanMs(): number {
    return this.#meanMs ?? this.#window.meanMs
  }

  /** Takes into account that work has ended. `running`: the work of the key that has not. */
  add({ startedAt, inflight, isLong }: Work, outcome: PermitOutcome, now: number, running: RunningWork): void {
    const heldMs = now - startedAt
    // an early failure does not show a fast service, and a client that leaves shows that its work would take longer
    const isDone = outcome === 'success'
    if (!isLong) this.#learnUsual(heldMs, isDone)
    if (!isDone) return
    // began under a larger limit, so it shows what that one caused
    if (inflight > this.current) return
    // a clock that was set back does not show how long the work took
    if (!(heldMs >= 0 && heldMs <= Number.MAX_SAFE_INTEGER)) return
    if (now < this.#window.startedAt) this.#window = this.#newWindow(now)
    // work that lasts longer than all other says nothing about that, unless most work has become so long
    if (isLong && ++this.#longEnded <= this.#window.count) return
    const window = this.#window.add(Math.max(SHORTEST_MS, heldMs), inflight, now, running)
    if (!window) return
    this.#meanMs = window.meanMs
    const { min, max } = this.#bounds
    const next = this.#algorithm.next(this.#exact, window)
    this.#exact = Math.max(min, Math.min(max, next))
    this.current = Math.round(this.#exact)
    this.#window = this.#newWindow(now)
  }

  #learnUsual(heldMs: number, isDone: boolean): void {
    const ms = isDone ? heldMs : UNENDED * heldMs
    if (!(isDone ? heldMs >= 0 : heldMs > this.usualMs)) return
    this.usualMs += (this.usualMs === 0 ? 1 : USUAL_WEIGHT) * (ms - this.usualMs)
  }

  // as many samples as places, so that one window shows the whole of a round
  #newWindow(now: number): WindowBuilder {
    this.#longEnded = 0
    return new WindowBuilder(Math.max(this.#algorithm.leastSamples ?? LEAST_SAMPLES, this.current), now)
  }
}
