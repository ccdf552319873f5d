import type { RunningWork } from './running-work.ts'
import { MOST_SAMPLES, Samples } from './samples.ts'

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
  /** Returns the median of the work that began when up to `FEW` of the most places were held; undefined if it is too little. */
  fewMedianMs(): number | undefined
  /** Mean number of places held when the work of the window began. */
  readonly meanInflight: number
  /** Largest number of places held when work of the window began. */
  readonly maxInflight: number
  /** Places held by work that began before the window, and has not ended with it. */
  readonly outlasting: number
}

/** A window is long enough when the standard error of its median is below this part of the median. */
const PRECISION = 0.07
/** Lengths of a window, in mean durations of work: long enough to show what its own limit causes, and an upper bound. */
const [SHORTEST, LONGEST] = [2, 30]
/** The interquartile range of normal durations, times this and divided by the root of their number, is the error. */
const ERROR_OF_RANGE = 0.93
const GROWTH = 1.5
/** Part of the places, and number of durations, of which there is a separate median. */
const [FEW, FEW_SAMPLES] = [0.6, 5]

/** Collects samples until they show enough. */
export class WindowBuilder {
  readonly startedAt: number
  readonly #samples = new Samples()
  #needed: number

  /** `leastSamples` is at least 1. */
  constructor(leastSamples: number, now: number) {
    this.#needed = Math.min(leastSamples, MOST_SAMPLES)
    this.startedAt = now
  }

  /** Number of samples so far. */
  get count(): number {
    return this.#samples.count
  }

  /** Mean of the durations so far; 0 if there are none. */
  get meanMs(): number {
    return this.#samples.meanMs
  }

  /** Adds a sample. Returns the window when it is complete. */
  add(durationMs: number, inflight: number, now: number, running: RunningWork): SampleWindow | undefined {
    const samples = this.#samples
    samples.add(durationMs, inflight)
    const { count, meanMs, maxInflight } = samples
    const lengthMs = now - this.startedAt
    if (!isLong(count, this.#needed, lengthMs, meanMs)) return undefined
    const meanInflight = samples.inflightSum / count
    const outlasting = running.shortPlaces(this.startedAt)
    const window = windowOf(samples, { count, lengthMs, meanMs, meanInflight, maxInflight, outlasting })
    if (isPrecise(window)) return window
    this.#needed = Math.min(MOST_SAMPLES, Math.ceil(count * GROWTH))
    return undefined
  }
}

/** Whether there are enough samples, over a time that is long enough. */
export function isLong(count: number, needed: number, lengthMs: number, meanMs: number): boolean {
  return count >= needed && lengthMs >= SHORTEST * meanMs
}

/** Whether more samples would not show more. */
export function isPrecise({ medianErrorMs, medianMs, meanMs, count, lengthMs }: SampleWindow): boolean {
  return medianErrorMs <= PRECISION * medianMs || count >= MOST_SAMPLES || lengthMs >= LONGEST * meanMs
}

type Sums = Pick<SampleWindow, 'count' | 'lengthMs' | 'meanMs' | 'meanInflight' | 'maxInflight' | 'outlasting'>

/** Returns what samples show. There is at least one duration. */
export function windowOf({ durations, inflights }: Pick<Samples, 'durations' | 'inflights'>, sums: Sums): SampleWindow {
  const sorted = new Float64Array(durations).sort()
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] as number
  return {
    ...sums,
    medianMs: at(0.5),
    durationAt: at,
    medianErrorMs: (ERROR_OF_RANGE * (at(0.75) - at(0.25))) / Math.sqrt(sorted.length),
    fewMedianMs: () => {
      const most = FEW * sums.maxInflight
      const few = durations.filter((_, index) => (inflights[index] as number) <= most)
      return few.length < FEW_SAMPLES ? undefined : few.sort((a, b) => a - b)[few.length >> 1]
    },
  }
}
