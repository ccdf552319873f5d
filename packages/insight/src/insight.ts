import type {
  CapHandle,
  Decision,
  Metric,
  MetricSource,
  ObservedCap,
  ObservedLimiter,
  ObservedRequest,
  Observer,
  ObserverEvent,
  Policy,
} from '@sluice/limiter-core'
import type { AuditLine, ControlEntry, ControlRequest } from './control/control.ts'
import type { ControlBounds } from './control/control-bounds.ts'
import type { OperatorControl } from './control/operator-control.ts'
import type { Explanation } from './explain/explanation.ts'
import type { Explanations } from './explain/explanations.ts'
import type { InsightPart } from './insight-part.ts'
import type { LiveSummaries } from './live/live-summaries.ts'
import type { InsightSnapshot } from './live/report/snapshot.ts'

export interface ExplainOptions {
  /** Units of the request to explain: an integer from 1. Default: 1. */
  readonly cost?: number | undefined
}

/** `parts` contains all parts, including `live` and `control`. `explanations` and `bounds` are not parts. */
export interface InsightDeps {
  readonly parts: readonly InsightPart[]
  readonly live: LiveSummaries
  readonly explanations: Explanations
  readonly control: OperatorControl
  readonly bounds: ControlBounds
  readonly idOf: (key: string) => string
}

/**
 * Observes limiters and caps, and provides metrics, snapshots, explanations and operator controls. Created by
 * `createInsight`; pass it to `observers` of each limiter and cap. It changes decisions only through `control`.
 */
export class Insight implements Observer, MetricSource {
  readonly #parts: readonly InsightPart[]
  readonly #live: LiveSummaries
  readonly #explanations: Explanations
  readonly #control: OperatorControl
  readonly #bounds: ControlBounds

  /**
   * Returns the id of a key on the live page and in snapshots. It does not reveal the key, unless `privacy` is `full`, or
   * the masked key if processes share a channel without a secret.
   */
  readonly idOf: (key: string) => string

  constructor({ parts, live, explanations, control, bounds, idOf }: InsightDeps) {
    this.idOf = idOf
    this.#parts = parts
    this.#live = live
    this.#explanations = explanations
    this.#control = control
    this.#bounds = bounds
  }

  decided(key: string, decision: Decision, request?: ObservedRequest): void {
    for (const part of this.#parts) part.decided?.(key, decision, request)
  }

  charged(key: string, units: number, policy: Policy): void {
    for (const part of this.#parts) part.charged?.(key, units, policy)
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

  capLeft(key: string, cap: ObservedCap): void {
    for (const part of this.#parts) part.capLeft?.(key, cap)
  }

  backendAnswered(backend: string, tookMs: number): void {
    for (const part of this.#parts) part.backendAnswered?.(backend, tookMs)
  }

  largestLimit(policy: string): number | undefined {
    return this.#bounds.largestLimit(policy)
  }

  limiterOpened(limiter: ObservedLimiter): void {
    for (const part of this.#parts) part.limiterOpened?.(limiter)
  }

  limiterClosed(limiter: ObservedLimiter): void {
    for (const part of this.#parts) part.limiterClosed?.(limiter)
  }

  capOpened(cap: CapHandle): void {
    for (const part of this.#parts) part.capOpened?.(cap)
  }

  capClosed(cap: CapHandle): void {
    for (const part of this.#parts) part.capClosed?.(cap)
  }

  event(name: ObserverEvent, data: Readonly<Record<string, unknown>>): void {
    for (const part of this.#parts) part.event?.(name, data)
  }

  *metrics(): Iterable<Metric> {
    for (const part of this.#parts) yield* part.metrics?.() ?? []
  }

  /**
   * Returns the current and recent statistics as plain JSON: of all processes on the channel, or of this process if no
   * channel is configured. Takes about 1 ms; call it at most a few times per second.
   */
  snapshot(): InsightSnapshot {
    return { ...this.#live.snapshot(), controls: this.#control.entries }
  }

  /**
   * Explains for each policy of this process whether the key is limited now, and why. Counts on shared backends cover
   * the whole fleet. Does not consume units. Rejects with `SLUICE_BAD_OPTION`.
   */
  explain(key: string, { cost = 1 }: ExplainOptions = {}): Promise<Explanation> {
    return this.#explanations.explain(key, cost)
  }

  /**
   * Returns the key that belongs to an `id` in a snapshot, or undefined if this process has not seen the key recently.
   */
  keyOf(id: string): string | undefined {
    return this.#live.keyOf(id)
  }

  /**
   * Applies a temporary change: switches a policy to shadow or off, changes its limit, blocks or resets a key, or lifts its bans. The
   * change applies in this process at once and in the other processes on the channel within a second, until it expires.
   * If it rejects (with a coded error), nothing has changed.
   */
  control(request: ControlRequest): Promise<ControlEntry> {
    return this.#control.control(request)
  }

  /**
   * Reverts a change before it expires. `by` is written to the audit log (shortened to 128 characters). Resolves to
   * false if no active change has this id. Rejects with `SLUICE_BAD_OPTION`.
   */
  undo(id: string, by?: string): Promise<boolean> {
    return this.#control.undo(id, by)
  }

  /** Active changes, latest first. */
  controls(): readonly ControlEntry[] {
    return this.#control.entries
  }

  /** Audit log of this process since it started, latest first. Keeps the last 200 lines. */
  audit(): readonly AuditLine[] {
    return this.#control.audit
  }

  /**
   * Stops timers and channel subscriptions. Limiters continue with their configured policies and are no longer
   * observed.
   */
  async close(): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.close?.()))
  }
}
