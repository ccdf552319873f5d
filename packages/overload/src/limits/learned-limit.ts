import { KeyLimit } from './key-limit.ts'
import { LEAST_SAMPLES, type LimitAlgorithm } from './limit-algorithm.ts'
import type { RunningWork } from './running-work.ts'
import { WindowBuilder } from './sample-window.ts'

export interface LimitBounds {
  readonly min: number
  readonly max: number
  readonly initial: number
}

/** A limit that is learned from the work of this process. */
export class LearnedLimit extends KeyLimit {
  readonly #bounds: LimitBounds
  readonly #algorithm: LimitAlgorithm
  #exact: number
  #window: WindowBuilder
  #meanMs: number | undefined
  current: number

  constructor(algorithm: LimitAlgorithm, bounds: LimitBounds, now: number) {
    super()
    this.#algorithm = algorithm
    this.#bounds = bounds
    this.#exact = bounds.initial
    this.current = bounds.initial
    this.#window = this.#newWindow(now)
  }

  get most(): number {
    return this.#bounds.max
  }

  /** Mean duration in ms of the work of the last window, or of the first one so far; 0 if no work has ended. */
  get meanMs(): number {
    return this.#meanMs ?? this.#window.meanMs
  }

  protected countAt(now: number): number {
    if (now < this.#window.startedAt) this.#window = this.#newWindow(now)
    return this.#window.count
  }

  protected sampled(heldMs: number, inflight: number, now: number, running: RunningWork): void {
    const window = this.#window.add(heldMs, inflight, now, running)
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
    this.longEnded = 0
    return new WindowBuilder(Math.max(this.#algorithm.leastSamples ?? LEAST_SAMPLES, this.current), now)
  }
}
