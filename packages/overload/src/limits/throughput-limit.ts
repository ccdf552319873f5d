import type { LimitAlgorithm } from './limit-algorithm.ts'
import type { SampleWindow } from './sample-window.ts'

/** Limit per place that the service can use: some work waits, so that no worker is ever idle. At least one waits. */
const ROOM = 1.35
/** Part of the limit at which the base is measured. `ROOM` times it is below 1, so that repeated dips find the knee. */
const DIP = 0.62
/** Windows between two dips. */
const DIP_EVERY = 8
/** Part of the way to the target that a window goes, and largest growth of the target in one window. */
const [STEP, GROWTH] = [0.5, 1.5]
/** Part of the work that may wait before a dip must show whether the service has become slower. */
const SUSPICIOUS = 0.5
/** Smallest part of the work that is assumed to be served. */
const LEAST_SERVED = 0.2
/** Part of the limit that must be in use for it to change. */
const USED = 0.9
/** Part of the possible fall of durations in a dip from which on all of the work was waiting. */
const FOLLOWED = 0.9
/** A base that differs by more than this factor is taken as it is. */
const CHANGED = 1.3

/**
 * Finds the knee of the throughput curve, the in-flight count above which work only waits. Work that waits shows as
 * time: throughput times the time above the base, which is the median duration without waiting, is the number of
 * places that wait. The base is measured again every few windows, with the limit lowered for one window: if durations
 * follow, work was waiting; if they do not, the service itself has become slower and the limit stays. So the base
 * cannot follow an overload, which lets limits run away that learn from a moving average.
 */
export class ThroughputLimit implements LimitAlgorithm {
  #baseMs: number | undefined
  #windowsSinceBase = 0
  /** The limit before a dip, and the window that showed it. */
  #before: { readonly limit: number; readonly window: SampleWindow } | undefined

  next(limit: number, window: SampleWindow): number {
    const before = this.#before
    if (before) return this.#afterDip(before.limit, before.window, limit, window)
    if (window.meanInflight <= limit * DIP) this.#measured(window.medianMs)
    if (window.maxInflight < Math.round(limit) * USED) return limit
    const base = this.#baseMs
    this.#windowsSinceBase++
    if (base === undefined || this.#windowsSinceBase >= DIP_EVERY) return this.#dip(limit, window)
    const waitMs = Math.max(0, window.medianMs - base - window.medianErrorMs)
    const served = 1 - waitMs / window.meanMs
    if (served < 1 - SUSPICIOUS && this.#windowsSinceBase > 1) return this.#dip(limit, window)
    const knee = inflightOf(window) * Math.max(LEAST_SERVED, served)
    const target = Math.min(limit * GROWTH, Math.max(ROOM * knee, knee + 1))
    // a low count without waiting shows that there was little work, not that there is little room
    if (target < limit && served >= 1 / ROOM) return limit
    return limit + (target - limit) * STEP
  }

  #dip(limit: number, window: SampleWindow): number {
    this.#before = { limit, window }
    // work that outlasts a window will not make room
    const kept = Math.min(limit, window.outlasting)
    return Math.floor(kept + (limit - kept) * DIP)
  }

  #afterDip(limit: number, high: SampleWindow, dipped: number, low: SampleWindow): number {
    this.#before = undefined
    this.#measured(low.medianMs)
    // at least so much, in spite of the errors of both medians
    const fell = 1 - (low.medianMs + 2 * low.medianErrorMs) / Math.max(1e-9, high.medianMs - 2 * high.medianErrorMs)
    const couldFall = 1 - low.meanInflight / high.meanInflight
    // work still waited at the lower limit, so the knee is further down
    if (couldFall > 0 && fell >= couldFall * FOLLOWED) return this.#dip(dipped, low)
    return limit
  }

  #measured(medianMs: number): void {
    this.#windowsSinceBase = 0
    const base = this.#baseMs
    const isOther = base === undefined || medianMs > base * CHANGED || medianMs * CHANGED < base
    this.#baseMs = isOther ? medianMs : (base + medianMs) / 2
  }
}

/** Little's law also knows what was in flight between arrivals; it knows too little if work has failed. */
function inflightOf({ count, lengthMs, meanMs, meanInflight, maxInflight }: SampleWindow): number {
  return Math.min(maxInflight, Math.max(meanInflight, (count / lengthMs) * meanMs))
}
