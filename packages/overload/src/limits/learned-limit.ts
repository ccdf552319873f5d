import type { PermitOutcome } from '@sluice/limiter-core'
import type { LimitAlgorithm } from './limit-algorithm.ts'
import type { RunningWork, Work } from './running-work.ts'
import { WindowBuilder } from './sample-window.ts'

const LEAST_SAMPLES = 10
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
    // an early failure does not show a fast service, and a client that leaves does not show a slow one
    if (outcome !== 'success') return
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

  // as many samples as places, so that one window shows the whole of a round
  #newWindow(now: number): WindowBuilder {
    this.#longEnded = 0
    return new WindowBuilder(Math.max(LEAST_SAMPLES, this.current), now)
  }
}
