import type { Metric, ObserverEvent } from '@sluice/limiter-core'
import type { InsightPart } from '../insight-part.ts'

/**
 * Hands each event on once. A backend tells all limiters that count on it, and one insight that watches them all would
 * count it for each; such an event is the same object each time.
 */
export class EventsOnce implements InsightPart {
  readonly #parts: readonly InsightPart[]
  readonly #known: WeakSet<object> = new WeakSet()

  constructor(parts: readonly InsightPart[]) {
    this.#parts = parts
  }

  backendAnswered(backend: string, tookMs: number): void {
    for (const part of this.#parts) part.backendAnswered?.(backend, tookMs)
  }

  event(name: ObserverEvent, data: Readonly<Record<string, unknown>>): void {
    if (this.#known.has(data)) return
    this.#known.add(data)
    for (const part of this.#parts) part.event?.(name, data)
  }

  *metrics(): Iterable<Metric> {
    for (const part of this.#parts) yield* part.metrics?.() ?? []
  }
}
