import { firstWholeMs } from '@sluice/limiter-core/backend'
import type { WindowSpans } from './window-spans.ts'

/**
 * How a part counts that is partly outside of a window: completely, by the fraction inside, or, for `fixed`, not at
 * all, because fixed windows consist of whole parts.
 */
export type WindowKind = 'whole' | 'weighted' | 'fixed'

const WHOLE = 0
const PART = 1
const LEFT_MS = 2
const LENGTH_MS = 3

/**
 * Evaluates a policy over counted parts: a pure function of `WindowSpans` and the time. All comparisons are
 * multiplied by the length of a part, so that whole units and milliseconds give exact results. Guarantee, if no part
 * is too small: at most one limit in any window with whole parts, less than two with weighted or fixed ones.
 */
export class WindowRule {
  readonly kind: WindowKind
  readonly limit: number
  readonly windowMs: number
  // at the last time that was evaluated: units of whole parts, units of the divided part, its fraction inside, its
  // length
  readonly #sums = new Float64Array(4)

  constructor(kind: WindowKind, limit: number, windowMs: number) {
    this.kind = kind
    this.limit = limit
    this.windowMs = windowMs
  }

  /**
   * Returns the milliseconds, an integer, until `cost` fits if nothing else is counted: 0 if it fits now, Infinity if
   * never.
   */
  waitMs(spans: WindowSpans, now: number, cost: number): number {
    if (cost === 0) return 0
    if (cost > this.limit) return Number.POSITIVE_INFINITY
    this.#sum(spans, now)
    if (this.#fits(cost)) return 0
    return firstWholeMs(this.#freeAt(spans, now, cost) - now, (ms) => {
      this.#sum(spans, now + ms)
      return this.#fits(cost)
    })
  }

  /** Whole units that fit now. */
  remaining(spans: WindowSpans, now: number): number {
    this.#sum(spans, now)
    const sums = this.#sums
    let units = Math.max(0, Math.floor(this.limit - sums[WHOLE] - (sums[PART] * sums[LEFT_MS]) / sums[LENGTH_MS]))
    // the division may round across a whole number; the comparison that decides is the one to agree with
    while (units > 0 && !this.#fits(units)) units--
    while (units < this.limit && this.#fits(units + 1)) units++
    return units
  }

  /** Units counted now, with a fraction where a stretch is weighted. */
  used(spans: WindowSpans, now: number): number {
    this.#sum(spans, now)
    const sums = this.#sums
    return sums[WHOLE] + (sums[PART] * sums[LEFT_MS]) / sums[LENGTH_MS]
  }

  /** Returns the milliseconds until nothing that is counted now counts any longer. */
  resetAfterMs(spans: WindowSpans, now: number): number {
    const { from, to, units } = spans
    for (let i = spans.length - 1; i >= 0; i--) {
      if (units[i] === 0) continue
      const startsAt = this.#startOf(spans, now)
      if (to[i] <= startsAt) return 0
      // behind a clock that stepped back units may lie in a later window than now
      const endsAt = this.kind === 'fixed' ? Math.max(startsAt, this.#startOf(spans, from[i])) : to[i]
      return Math.max(0, endsAt + this.windowMs - now)
    }
    return 0
  }

  #fits(cost: number): boolean {
    const sums = this.#sums
    return sums[PART] * sums[LEFT_MS] + (sums[WHOLE] + cost) * sums[LENGTH_MS] <= this.limit * sums[LENGTH_MS]
  }

  #sum(spans: WindowSpans, at: number): void {
    const { from, to, units, length } = spans
    const startsAt = this.#startOf(spans, at)
    const sums = this.#sums
    let whole = 0
    sums[PART] = 0
    sums[LEFT_MS] = 0
    sums[LENGTH_MS] = 1
    for (let i = 0; i < length; i++) {
      if (to[i] <= startsAt) continue
      if (from[i] >= startsAt || this.kind === 'whole') {
        whole += units[i]
        continue
      }
      sums[PART] = units[i]
      sums[LEFT_MS] = to[i] - startsAt
      sums[LENGTH_MS] = to[i] - from[i]
    }
    sums[WHOLE] = whole
  }

  #startOf({ origin }: WindowSpans, at: number): number {
    if (this.kind !== 'fixed') return at - this.windowMs
    return origin + Math.floor((at - origin) / this.windowMs) * this.windowMs
  }

  /** Estimates when `cost` fits: the part with which enough units leave, or the fraction of it. */
  #freeAt(spans: WindowSpans, now: number, cost: number): number {
    const { from, to, units, length } = spans
    if (this.kind === 'fixed') return this.#startOf(spans, now) + this.windowMs
    const room = this.limit - cost
    let later = 0
    for (let i = 0; i < length; i++) later += units[i]
    for (let i = 0; i < length; i++) {
      later -= units[i]
      if (later > room) continue
      const kept = this.kind === 'whole' ? 0 : Math.min(1, (room - later) / Math.max(1, units[i]))
      return to[i] - kept * (to[i] - from[i]) + this.windowMs
    }
    return now
  }
}
