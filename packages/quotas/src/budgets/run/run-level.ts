import {
  createLimiter,
  type Hold,
  type Limiter,
  type MaybePromise,
  type ObservedLimiter,
  type Observer,
  type PolicyInput,
} from '@sluice/limiter-core'
import { LoopDetector } from './loop-detector.ts'
import { AMOUNT_KINDS, type AmountKind, type Amounts, NOTHING, plus } from './run-amounts.ts'
import type { RunContext } from './run-context.ts'
import { BudgetExhausted, type RunEnd, shownLimit } from './run-end.ts'
import { type Limits, type LoopLimits, limitsOf, type RunBounds } from './run-options.ts'

/** A call in progress. */
export interface LevelCall {
  abort(reason: unknown): void
}

/** A bound of a budget that denies units, and what it has left. */
export interface Denial {
  readonly level: RunLevel
  readonly kind: AmountKind
  readonly remaining: number
}

/** A bound that no policy can have more of, for budgets that bound other things. */
const UNBOUNDED = 999_999_999_999_999
const RUN = 'run'

/**
 * The bounds of a run or of one of its parts. Its limiter has the policies of its own bounds and of those of all
 * parents, so that a call holds units of all of them or of none.
 */
export class RunLevel {
  readonly run: RunContext
  readonly parent: RunLevel | undefined
  /** `run`, or the names of the children: `research/search`. */
  readonly path: string
  readonly children: RunLevel[] = []
  /** Running calls of this level and of its children. */
  readonly calls = new Set<LevelCall>()
  /** Number of running calls that do not wait for units. */
  active = 0
  /** What calls have used, including running ones. */
  spent: Amounts = NOTHING
  /** What running streams of this process hold and have not used. */
  slack: Amounts = NOTHING
  end: BudgetExhausted | undefined
  readonly loops: LoopDetector | undefined
  /** Limits of loops, for children. */
  readonly ownLoops: LoopLimits | undefined
  /** As they were configured. Limiters with a count in common need the same limit. */
  readonly #configured: Limits
  readonly #limits: Limits
  readonly #controller = new AbortController()
  readonly #limiter: Limiter
  readonly #bounds: ReadonlyMap<string, readonly [RunLevel, AmountKind]>
  #observed: ObservedLimiter | undefined
  #asking: Promise<boolean> | undefined
  readonly #startedAt: number
  #stopTimer: (() => void) | undefined

  constructor(run: RunContext, limits: Limits, loops: LoopLimits | undefined, parent?: RunLevel, name = RUN) {
    this.run = run
    this.parent = parent
    this.path = parent?.parent ? `${parent.path}/${name}` : name
    this.ownLoops = loops
    this.loops = loops && new LoopDetector(loops)
    const countsNothing = !parent && AMOUNT_KINDS.every((kind) => limits[kind] === undefined)
    this.#configured = countsNothing ? { ...limits, calls: UNBOUNDED } : limits
    this.#limits = { ...this.#configured }
    this.#startedAt = run.timers.now()
    this.#bounds = new Map(
      this.chain.flatMap((level) =>
        AMOUNT_KINDS.flatMap((kind) =>
          level.#limits[kind] === undefined ? [] : [[level.#policyName(kind), [level, kind]] as const],
        ),
      ),
    )
    this.#limiter = this.#open()
    this.#applyLimits()
    this.#startTimer()
  }

  /** This level and its parents. */
  get chain(): readonly RunLevel[] {
    return [this, ...(this.parent?.chain ?? [])]
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get limits(): Limits {
    return this.#limits
  }

  get elapsedMs(): number {
    return this.run.timers.now() - this.#startedAt
  }

  /** Holds units of this level and of its parents. */
  hold(amounts: Amounts): MaybePromise<Hold> {
    return this.#limiter.hold(this.run.id, { reserve: this.costs(amounts) })
  }

  /** Returns what is left of each bound of this level, over all processes. */
  async left(): Promise<Limits> {
    const { verdicts } = await this.#limiter.peek(this.run.id, 0)
    const left: Limits = {}
    for (const { policy, remaining } of verdicts) {
      const [level, kind] = this.#bounds.get(policy.name) ?? []
      const limit = kind && this.#limits[kind]
      if (level === this && kind && limit !== undefined && limit < UNBOUNDED) left[kind] = remaining
    }
    if (this.#limits.ms !== undefined) left.ms = Math.max(0, this.#limits.ms - this.elapsedMs)
    return left
  }

  /** Returns the units of each policy. */
  costs(amounts: Amounts): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#bounds].map(([name, [, kind]]) => [name, amounts[kind]]))
  }

  /** Returns the bounds that denied a hold. */
  denials({ decision: { verdicts } }: Hold): readonly Denial[] {
    return verdicts.flatMap(({ allowed, policy, remaining }) => {
      const [level, kind] = this.#bounds.get(policy.name) ?? []
      return allowed || !level || !kind ? [] : [{ level, kind, remaining }]
    })
  }

  /** Returns a bound that what was used and `more` exceed, if there is one. */
  exceeded(more: Amounts): Denial | undefined {
    for (const level of this.chain) {
      for (const kind of AMOUNT_KINDS) {
        const limit = level.#limits[kind]
        if (limit !== undefined && level.spent[kind] + more[kind] > limit) {
          return { level, kind, remaining: Math.max(0, limit - level.spent[kind]) }
        }
      }
    }
    return undefined
  }

  spend(more: Amounts): void {
    for (const level of this.chain) level.spent = plus(level.spent, more)
  }

  addSlack(more: Amounts): void {
    for (const level of this.chain) level.slack = plus(level.slack, more)
  }

  enter(call: LevelCall): void {
    for (const level of this.chain) level.calls.add(call)
  }

  /** Called when a call has ended and its units are settled. */
  leave(call: LevelCall): void {
    for (const level of this.chain) {
      level.calls.delete(call)
      // after `finish`
      if (level.end && level.calls.size === 0) level.#controller.abort(level.end)
    }
    this.run.changes.changed()
  }

  addActive(change: 1 | -1): void {
    for (const level of this.chain) level.active += change
  }

  /**
   * Called when a bound is reached. Resolves with true if it was raised. Otherwise it ends the level, and resolves with
   * false if running calls may finish.
   */
  async exhaust(kind: AmountKind | 'seconds' | 'loop', tool?: string): Promise<boolean> {
    if (this.end) return false
    const { onExhausted } = this.run
    const end: RunEnd = { bound: kind, budget: this.path, limit: this.#shownLimit(kind), tool }
    if (typeof onExhausted === 'function') {
      this.#asking ??= this.#ask(onExhausted, end).finally(() => {
        this.#asking = undefined
      })
      if (await this.#asking) return true
    }
    this.stop(new BudgetExhausted(end), onExhausted === 'finish')
    return false
  }

  /** Ends this level and its children. Running calls are aborted unless they may finish. */
  stop(end: BudgetExhausted, mayFinish = false): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    for (const child of this.children) child.stop(end, mayFinish)
    this.end ??= end
    this.run.changes.changed()
    if (mayFinish && this.calls.size > 0) return
    // calls first: they know the reason before listeners of the signal run
    for (const call of [...this.calls]) call.abort(this.end)
    this.#controller.abort(this.end)
  }

  /** Releases the counters of this level and of its children. */
  async close(): Promise<void> {
    await Promise.all(this.children.map((child) => child.close()))
    await this.#limiter.close()
  }

  /** Asks the application for more. Resolves with true if it gave something. */
  async #ask(ask: (end: RunEnd) => MaybePromise<RunBounds | undefined>, end: RunEnd): Promise<boolean> {
    let more: Limits
    try {
      const answer = await ask(end)
      if (answer === undefined || answer === null) return false
      more = limitsOf('onExhausted', answer, 0)
    } catch (error) {
      this.stop(new BudgetExhausted(end, { cause: error }))
      return false
    }
    const { bound } = end
    const isRaised = bound === 'loop' || Number(more[bound === 'seconds' ? 'ms' : (bound as AmountKind)] ?? 0) > 0
    if (this.end || !isRaised) return false
    for (const kind of [...AMOUNT_KINDS, 'ms'] as const) {
      const limit = this.#limits[kind]
      const largest = kind === 'ms' ? this.run.keepMs : UNBOUNDED
      if (limit !== undefined) this.#limits[kind] = Math.min(largest, limit + (more[kind] ?? 0))
    }
    this.loops?.reset()
    if (more.ms) this.#startTimer()
    for (const level of this.#withChildren()) level.#applyLimits()
    this.run.changes.changed()
    return true
  }

  /** Sets the limits that were raised, as an operator does. */
  #applyLimits(): void {
    const raised = [...this.#bounds].filter(([, [level, kind]]) => level.#limits[kind] !== level.#configured[kind])
    if (raised.length === 0) return
    const policies = new Map(raised.map(([name, [level, kind]]) => [name, { limit: level.#limits[kind] }]))
    this.#observed?.control({ policies, blockedMs: () => 0 }, this)
  }

  #withChildren(): readonly RunLevel[] {
    return [this, ...this.children.flatMap((child) => child.#withChildren())]
  }

  #startTimer(): void {
    const { ms } = this.#limits
    this.#stopTimer?.()
    if (ms === undefined) return
    this.#stopTimer = this.run.timers.after(Math.max(0, ms - this.elapsedMs), () => {
      this.exhaust('seconds')
    })
  }

  #open(): Limiter {
    const { backend, clock, id, holdMs, keepMs, deadlineMs, observers } = this.run
    const policies = [...this.#bounds].map(
      ([name, [level, kind]]): PolicyInput => ({
        name,
        limit: level.#configured[kind] as number,
        window: keepMs,
        // its window begins with the first call, and the run ends in it
        algorithm: 'fixed-window',
        unit: kind === 'usd' ? 'micro-usd' : kind,
        maxHoldMs: holdMs,
      }),
    )
    const own: Observer = {
      limiterOpened: (observed) => {
        this.#observed = observed
      },
    }
    return createLimiter({
      policies,
      backend,
      clock,
      scope: `run ${id}`,
      shared: true,
      onBackendError: 'deny',
      deadlineMs,
      observers: [...observers, own],
    })
  }

  #policyName(kind: AmountKind): string {
    return this.parent ? `${kind} of ${this.path}` : kind
  }

  #shownLimit(kind: AmountKind | 'seconds' | 'loop'): string | number | undefined {
    if (kind === 'loop') return this.loops?.repeats
    if (kind === 'seconds') return (this.#limits.ms ?? 0) / 1_000
    return shownLimit(kind, this.#limits[kind] ?? 0)
  }
}
