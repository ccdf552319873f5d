import type {
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
import type { OperatorControl } from './control/operator-control.ts'
import type { Explanation } from './explain/explanation.ts'
import type { Explanations } from './explain/explanations.ts'
import type { InsightPart } from './insight-part.ts'
import type { LiveSummaries } from './live/live-summaries.ts'
import type { InsightSnapshot } from './live/snapshot.ts'

export interface ExplainOptions {
  /** Units that are asked for; a whole number from 1, which is the default. */
  readonly cost?: number | undefined
}

/** The parts that answer questions, and all parts, they among them. */
export interface InsightDeps {
  readonly parts: readonly InsightPart[]
  readonly live: LiveSummaries
  readonly explanations: Explanations
  readonly control: OperatorControl
}

/**
 * Watches limiters and caps, and makes what they do visible. Made by `createInsight`; hand it to `observers` of whatever is
 * to be seen. It changes no answer but where an operator asks for it, and its parts know nothing of each other.
 */
export class Insight implements Observer, MetricSource {
  readonly #parts: readonly InsightPart[]
  readonly #live: LiveSummaries
  readonly #explanations: Explanations
  readonly #control: OperatorControl

  constructor({ parts, live, explanations, control }: InsightDeps) {
    this.#parts = parts
    this.#live = live
    this.#explanations = explanations
    this.#control = control
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

  backendAnswered(backend: string, tookMs: number): void {
    for (const part of this.#parts) part.backendAnswered?.(backend, tookMs)
  }

  largestLimit(policy: string): number | undefined {
    return this.#control.largestLimit(policy)
  }

  limiterOpened(limiter: ObservedLimiter): void {
    for (const part of this.#parts) part.limiterOpened?.(limiter)
  }

  limiterClosed(limiter: ObservedLimiter): void {
    for (const part of this.#parts) part.limiterClosed?.(limiter)
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
    return { ...this.#live.snapshot(), controls: this.#control.entries }
  }

  /**
   * Why a key was limited, and what it may do now, by all policies of this process; the counts of shared backends are those
   * of the fleet. Counts nothing. Rejects with `SLUICE_BAD_OPTION`.
   */
  explain(key: string, { cost = 1 }: ExplainOptions = {}): Promise<Explanation> {
    return this.#explanations.explain(key, cost)
  }

  /** The key of an `id` of a snapshot; undefined where this process has not seen it of late. */
  keyOf(id: string): string | undefined {
    return this.#live.keyOf(id)
  }

  /**
   * Switches a policy to shadow or off, changes its limit, blocks or resets a key: in this process at once, in the others
   * of the channel within a second, until its time is over. Rejects with a coded error, and changes nothing then.
   */
  control(request: ControlRequest): Promise<ControlEntry> {
    return this.#control.control(request)
  }

  /** Ends a change before its time. `by`: for the audit, at most 128 characters. Answers false where none of that id holds. Rejects with `SLUICE_BAD_OPTION`. */
  undo(id: string, by?: string): Promise<boolean> {
    return this.#control.undo(id, by)
  }

  /** Changes that hold now, latest first. */
  controls(): readonly ControlEntry[] {
    return this.#control.entries
  }

  /** What operators did since this process started, 200 lines at most, latest first. */
  audit(): readonly AuditLine[] {
    return this.#control.audit
  }

  /** Ends what it opened: timers, and its use of a channel. Limiters go on as they were built, and are no longer seen. */
  async close(): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.close?.()))
  }
}
