import type { WorkSample } from '@sluice/limiter-core'
import type { LimitAlgorithm } from './limit-algorithm.ts'
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
  current: number

  constructor(algorithm: LimitAlgorithm, bounds: LimitBounds, now: number) {
    this.#algorithm = algorithm
    this.#bounds = bounds
    this.#exact = bounds.initial
    this.current = bounds.initial
    this.#window = this.#newWindow(now)
  }

  sample({ heldMs, inflight, outcome }: WorkSample, now: number): void {
    // an early failure does not show a fast service, and a client that leaves does not show a slow one
    if (outcome !== 'success') return
    // began under a larger limit, so it shows what that one caused
    if (inflight > this.current) return
    // a clock that was set back does not show how long the work took
    if (!(heldMs >= 0 && heldMs <= Number.MAX_SAFE_INTEGER)) return
    if (now < this.#window.startedAt) this.#window = this.#newWindow(now)
    const window = this.#window.add(Math.max(SHORTEST_MS, heldMs), inflight, now)
    if (!window) return
    const { min, max } = this.#bounds
    const next = this.#algorithm.next(this.#exact, window)
    this.#exact = Math.max(min, Math.min(max, next))
    this.current = Math.round(this.#exact)
    this.#window = this.#newWindow(now)
  }

  // as many samples as places, so that one window shows the whole of a round
  #newWindow(now: number): WindowBuilder {
    return new WindowBuilder(Math.max(LEAST_SAMPLES, this.current), now)
  }
}
