import type { LimitAlgorithm } from './limit-algorithm.ts'
import type { SampleWindow } from './sample-window.ts'

/** Limit per place that the service can use: some work waits, so that no worker is ever idle. At least one waits. */
const ROOM = 1.35
/** Part of the limit at which the base is measured. `ROOM` times it is below 1, so that repeated dips find the knee. */
const DIP = 0.62
/** Windows between two dips, and to the first one: a process that has just started is slow. */
const [DIP_EVERY, FIRST_DIP] = [8, 2]
/** Part of the way to the target that a window goes, and largest growth of the target in one window. */
const [STEP, GROWTH] = [0.5, 1.5]
/** Part of the work that may wait before a dip must show whether the service has become slower. */
const SUSPICIOUS = 0.5
/** Part of the work that is served from which on none waits. */
const UNHURRIED = 0.95
/** Smallest part of the work that is assumed to be served. */
const LEAST_SERVED = 0.2
/** Part of the limit that must be in use for it to change. */
const USED = 0.9
/** Part of the possible fall of durations in a dip from which on all of the work was waiting. */
const FOLLOWED = 0.9
/** A base that differs by more than this factor is taken as it is. */
const CHANGED = 1.3
/** Growth of a new limit in a window, and of the durations up to which it goes on. */
const [START, FREE] = [2, 1.25]
/** Part of the places that may be held by work which outlasts a window while a new limit grows. */
const OUTLASTING = 0.1

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
  /** A new limit grows fast until work waits. */
  #start: 'new' | 'growing' | 'over' = 'new'
  /** The limit before a dip, and the window that showed it. */
  #before: { readonly limit: number; readonly window: SampleWindow } | undefined

  resume(): void {
    this.#start = 'over'
  }

  giveUp(): number | undefined {
    const before = this.#before
    this.#before = undefined
    this.#windowsSinceBase = 0
    return before?.limit
  }

  next(limit: number, window: SampleWindow): number {
    const before = this.#before
    if (before) return this.#afterDip(before.limit, before.window, limit, window)
    const isUsed = window.maxInflight >= Math.round(limit) * USED
    if (this.#start === 'growing') return this.#afterGrowth(limit, window, isUsed)
    if (window.meanInflight <= limit * DIP) this.#measured(window.medianMs)
    if (!isUsed) return limit
    if (this.#start === 'new' && this.#isFree(window)) {
      this.#start = 'growing'
      return limit * START
    }
    if (this.#start === 'new') this.#endStart()
    return this.#steady(limit, window)
  }

  #endStart(): void {
    this.#start = 'over'
    this.#windowsSinceBase = DIP_EVERY - FIRST_DIP
  }

  #afterGrowth(limit: number, window: SampleWindow, isUsed: boolean): number {
    if (this.#isFree(window)) return isUsed ? limit * START : limit
    this.#endStart()
    return limit / START
  }

  #steady(limit: number, window: SampleWindow): number {
    const since = ++this.#windowsSinceBase
    this.#lowerBase(window)
    const served = this.#servedPart(window)
    const isSuspicious = served < 1 - SUSPICIOUS && since > 1
    // as long as nothing waits, a lower limit would show nothing
    const isDue = since >= DIP_EVERY && served < UNHURRIED
    if (this.#baseMs === undefined || isSuspicious || isDue) return this.#dip(limit, window)
    return limit + (targetOf(limit, window, served) - limit) * STEP
  }

  /** Part of the places whose work does not wait. */
  #servedPart({ medianMs, medianErrorMs, meanMs }: SampleWindow): number {
    return 1 - Math.max(0, medianMs - (this.#baseMs ?? medianMs) - medianErrorMs) / meanMs
  }

  /** Whether work takes no longer than in smaller windows before. It may, if nothing is known yet. */
  #isFree(window: SampleWindow): boolean {
    const { medianMs, medianErrorMs, maxInflight, outlasting } = window
    this.#baseMs = Math.min(this.#baseMs ?? window.fewMedianMs() ?? medianMs, medianMs)
    return medianMs - medianErrorMs <= FREE * this.#baseMs && outlasting <= OUTLASTING * maxInflight
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

  /** Work without waiting takes no longer than other work. */
  #lowerBase({ medianMs, medianErrorMs }: SampleWindow): void {
    if (this.#baseMs !== undefined && medianMs + 2 * medianErrorMs < this.#baseMs) this.#baseMs = medianMs
  }

  #measured(medianMs: number): void {
    this.#windowsSinceBase = 0
    const base = this.#baseMs
    const isOther = base === undefined || medianMs > base * CHANGED || medianMs * CHANGED < base
    this.#baseMs = isOther ? medianMs : (base + medianMs) / 2
  }
}

function targetOf(limit: number, window: SampleWindow, served: number): number {
  const knee = inflightOf(window) * Math.max(LEAST_SERVED, served)
  const target = Math.min(limit * GROWTH, Math.max(ROOM * knee, knee + 1))
  // a low count without waiting shows that there was little work, not that there is little room
  return target < limit && served >= 1 / ROOM ? limit : target
}

/** Little's law also knows what was in flight between arrivals; it knows too little if work has failed. */
function inflightOf({ count, lengthMs, meanMs, meanInflight, maxInflight }: SampleWindow): number {
  return Math.min(maxInflight, Math.max(meanInflight, (count / lengthMs) * meanMs))
}
