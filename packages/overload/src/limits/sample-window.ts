import type { RunningWork } from './running-work.ts'

/** What the completed work of a short time shows. */
export interface SampleWindow {
  /** Number of samples, at least 1. */
  readonly count: number
  /** Milliseconds from the start of the window to its end. */
  readonly lengthMs: number
  readonly meanMs: number
  readonly medianMs: number
  /** Returns the duration that a part of the work does not exceed. `quantile`: from 0 to below 1. */
  durationAt(quantile: number): number
  /** Standard error of the median. */
  readonly medianErrorMs: number
  /** Median of the work that began when fewer places were held, up to `FEW` of the most; undefined if it is too little. */
  readonly fewMedianMs: number | undefined
  /** Mean number of places held when the work of the window began. */
  readonly meanInflight: number
  /** Largest number of places held when work of the window began. */
  readonly maxInflight: number
  /** Places held by work that began before the window, and has not ended with it. */
  readonly outlasting: number
}

/** The median of so many samples is precise enough for every algorithm. */
const MOST_SAMPLES = 256
/** A window is long enough when the standard error of its median is below this part of the median. */
const PRECISION = 0.07
/** Lengths of a window, in mean durations of work: long enough to show what its own limit causes, and an upper bound. */
const [SHORTEST, LONGEST] = [2, 30]
/** The interquartile range of normal durations, times this and divided by the root of their number, is the error. */
const ERROR_OF_RANGE = 0.93
const GROWTH = 1.5
/** Part of the places, and number of durations, of which there is a separate median. */
const [FEW, FEW_SAMPLES] = [0.6, 5]

/** Collects samples until they show enough. Durations are above 0. */
export class WindowBuilder {
  readonly startedAt: number
  /** The last `MOST_SAMPLES` durations at most. */
  readonly #durations: number[] = []
  readonly #inflights: number[] = []
  #count = 0
  #needed: number
  #durationSum = 0
  #inflightSum = 0
  #maxInflight = 0

  /** `leastSamples` is at least 1. */
  constructor(leastSamples: number, now: number) {
    this.#needed = Math.min(leastSamples, MOST_SAMPLES)
    this.startedAt = now
  }

  /** Number of samples so far. */
  get count(): number {
    return this.#count
  }

  /** Mean of the durations so far; 0 if there are none. */
  get meanMs(): number {
    return this.#count === 0 ? 0 : this.#durationSum / this.#count
  }

  /** Adds a sample. Returns the window when it is complete. */
  add(durationMs: number, inflight: number, now: number, running: RunningWork): SampleWindow | undefined {
    this.#durations[this.#count % MOST_SAMPLES] = durationMs
    this.#inflights[this.#count % MOST_SAMPLES] = inflight
    const count = ++this.#count
    this.#durationSum += durationMs
    this.#inflightSum += inflight
    if (inflight > this.#maxInflight) this.#maxInflight = inflight
    const lengthMs = now - this.startedAt
    const { meanMs } = this
    if (count < this.#needed || lengthMs < SHORTEST * meanMs) return undefined
    const window = this.#summary(count, meanMs, lengthMs, running.shortPlaces(this.startedAt))
    const isPrecise = window.medianErrorMs <= PRECISION * window.medianMs
    if (isPrecise || count >= MOST_SAMPLES || lengthMs >= LONGEST * meanMs) return window
    this.#needed = Math.min(MOST_SAMPLES, Math.ceil(count * GROWTH))
    return undefined
  }

  #summary(count: number, meanMs: number, lengthMs: number, outlasting: number): SampleWindow {
    const sorted = Float64Array.from(this.#durations).sort()
    const at = (share: number): number => sorted[Math.floor(sorted.length * share)] as number
    const most = FEW * this.#maxInflight
    const few = Float64Array.from(
      this.#durations.filter((_, index) => (this.#inflights[index] as number) <= most),
    ).sort()
    return {
      count,
      lengthMs,
      meanMs,
      medianMs: at(0.5),
      durationAt: at,
      medianErrorMs: (ERROR_OF_RANGE * (at(0.75) - at(0.25))) / Math.sqrt(sorted.length),
      fewMedianMs: few.length < FEW_SAMPLES ? undefined : few[few.length >> 1],
      meanInflight: this.#inflightSum / count,
      maxInflight: this.#maxInflight,
      outlasting,
    }
  }
}
