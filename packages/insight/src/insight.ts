import type {
  Decision,
  Metric,
  MetricSource,
  ObservedCap,
  ObservedRequest,
  Observer,
  ObserverEvent,
} from '@sluice/limiter-core'
import type { LiveSummaries } from './live/live-summaries.ts'
import type { InsightSnapshot } from './live/snapshot.ts'

/** A part of an insight: it hears all that observers hear, and may be a source of metrics. */
export interface InsightPart extends Observer, Partial<MetricSource> {
  /** Ends what it opened. */
  close?(): Promise<void>
}

/**
 * Watches limiters and caps, and makes what they do visible. Made by `createInsight`; hand it to `observers` of whatever is
 * to be seen. It never changes an answer, and its parts know nothing of each other.
 */
export class Insight implements Observer, MetricSource {
  readonly #parts: readonly InsightPart[]
  readonly #live: LiveSummaries

  /** `live`: the one of its parts that snapshots are made of. */
  constructor(parts: readonly InsightPart[], live: LiveSummaries) {
    this.#parts = parts
    this.#live = live
  }

  decided(key: string, decision: Decision, request?: ObservedRequest): void {
    for (const part of this.#parts) part.decided?.(key, decision, request)
  }

  permitAcquired(key: string, cap: ObservedCap): void {
    for (const part of this.#parts) part.permitAcquired?.(key, cap)
  }

  permitReleased(key: string, heldMs: number, cap: ObservedCap): void {
    for (const part of this.#parts) part.permitReleased?.(key, heldMs, cap)
  }

  capDenied(key: string, cap: ObservedCap): void {
    for (const part of this.#parts) part.capDenied?.(key, cap)
  }

  backendAnswered(backend: string, tookMs: number): void {
    for (const part of this.#parts) part.backendAnswered?.(backend, tookMs)
  }

  event(name: ObserverEvent, data: Readonly<Record<string, unknown>>): void {
    for (const part of this.#parts) part.event?.(name, data)
  }

  *metrics(): Iterable<Metric> {
    for (const part of this.#parts) yield* part.metrics?.() ?? []
  }

  /**
   * What limits do now and did lately, as plain JSON: in all processes of the channel, and without one in this process.
   * Takes about a millisecond; meant for some a second at most.
   */
  snapshot(): InsightSnapshot {
    return this.#live.snapshot()
  }

  /** Ends what it opened: timers, and its use of a channel. Limiters go on, and are no longer seen. */
  async close(): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.close?.()))
  }
}
