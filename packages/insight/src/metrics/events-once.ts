import type { Metric, ObserverEvent } from '@sluice/limiter-core'
import type { InsightPart } from '../insight-part.ts'

/**
 * Forwards each event once. A backend notifies every limiter that uses it, so an insight that observes several of these
 * limiters receives the same event object several times.
 */
export class DeduplicatedEvents implements InsightPart {
  readonly #parts: readonly InsightPart[]
  readonly #seen: WeakSet<object> = new WeakSet()

  constructor(parts: readonly InsightPart[]) {
    this.#parts = parts
  }

  backendAnswered(backend: string, tookMs: number): void {
    for (const part of this.#parts) part.backendAnswered?.(backend, tookMs)
  }

  event(name: ObserverEvent, data: Readonly<Record<string, unknown>>): void {
    if (this.#seen.has(data)) return
    this.#seen.add(data)
    for (const part of this.#parts) part.event?.(name, data)
  }

  *metrics(): Iterable<Metric> {
    for (const part of this.#parts) yield* part.metrics?.() ?? []
  }
}
