import type { Hold, MaybePromise } from '@sluice/limiter-core'
import { LoopDetector } from './loop-detector.ts'
import { AMOUNT_KINDS, type AmountKind, type Amounts, NOTHING, plus } from './run-amounts.ts'
import type { RunContext } from './run-context.ts'
import { BudgetExhausted, type RunEnd, shownLimit } from './run-end.ts'
import { type BoundPolicy, type Denial, RunLimiter } from './run-limiter.ts'
import { type Limits, type LoopLimits, limitsOf, type RunBounds } from './run-options.ts'

/** A call in progress. */
export interface LevelCall {
  abort(reason: unknown): void
}

/** A bound that no policy can have more of, for budgets that bound other things. */
const UNBOUNDED = 999_999_999_999_999
const RUN = 'run'

/**
 * The bounds of a run or of one of its parts. Its limiter has the policies of its bounds and of the bounds of all
 * parents, so that a call holds units of all of them or of none.
 */
export class RunLevel {
  readonly run: RunContext
  readonly parent: RunLevel | undefined
  /** `run`, or the names of the children: `research/search`. */
  readonly path: string
  readonly children: RunLevel[] = []
  /** Running calls of this level and of its children. */
  readonly calls: Set<LevelCall> = new Set()
  /** Number of running calls that do not wait for units. */
  active = 0
  /** What calls have used, including running ones. */
  spent: Amounts = NOTHING
  /** What running streams of this process hold and have not used. Negative if they have used more. */
  #unused: Amounts = NOTHING
  /** What other running calls of this process hold and have not used. They cannot be cut off. */
  #reserved: Amounts = NOTHING
  end: BudgetExhausted | undefined
  readonly loops: LoopDetector | undefined
  /** Limits of loops, for children. */
  readonly ownLoops: LoopLimits | undefined
  readonly #limits: Limits
  readonly #controller = new AbortController()
  readonly #bounds: readonly BoundPolicy<RunLevel>[]
  readonly #limiter: RunLimiter<RunLevel>
  #asking: Promise<boolean> | undefined
  readonly #startedAt: number
  #stopTimer: (() => void) | undefined

  constructor(run: RunContext, limits: Limits, loops: LoopLimits | undefined, parent?: RunLevel, name: string = RUN) {
    this.run = run
    this.parent = parent
    this.path = parent?.parent ? `${parent.path}/${name}` : name
    this.ownLoops = loops
    this.loops = loops && new LoopDetector(loops)
    const countsNothing = !parent && AMOUNT_KINDS.every((kind) => limits[kind] === undefined)
    this.#limits = { ...limits, ...(countsNothing && { calls: UNBOUNDED }) }
    this.#startedAt = run.timers.now()
    const own = AMOUNT_KINDS.flatMap((kind): BoundPolicy<RunLevel>[] => {
      const limit = this.#limits[kind]
      return limit === undefined ? [] : [{ name: parent ? `${kind} of ${this.path}` : kind, level: this, kind, limit }]
    })
    this.#bounds = [...own, ...(parent ? parent.#bounds : [])]
    this.#limiter = new RunLimiter(run, this.#bounds)
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

  /** Whether streams have used more than they hold together, under this level or a parent. */
  get isOverdrawn(): boolean {
    return this.chain.some((level) => AMOUNT_KINDS.some((kind) => level.#unused[kind] < 0))
  }

  /** Holds units of this level and of its parents. */
  hold(amounts: Amounts): MaybePromise<Hold> {
    return this.#limiter.hold(amounts)
  }

  /** Returns the units of each policy, for `extend` and `settle` of a hold. */
  costs(amounts: Amounts): Readonly<Record<string, number>> {
    return this.#limiter.costs(amounts)
  }

  /** Returns the bounds that denied a hold. */
  denials(hold: Hold): readonly Denial<RunLevel>[] {
    return this.#limiter.denials(hold)
  }

  /** Returns what is left of each bound of this level, in all processes. */
  async left(): Promise<Limits> {
    const left: Limits = {}
    for (const [kind, remaining] of await this.#limiter.left(this)) {
      if (Number(this.#limits[kind]) < UNBOUNDED) left[kind] = remaining
    }
    if (this.#limits.ms !== undefined) left.ms = Math.max(0, this.#limits.ms - this.elapsedMs)
    return left
  }

  /** Returns a bound that `more` exceeds beside what was used. */
  exceeded(more: Amounts): Denial<RunLevel> | undefined {
    return this.#exceeded((level, kind) => level.spent[kind] + more[kind])
  }

  /** Returns a bound that is exceeded if calls that cannot be cut off use all that they hold. */
  exceededByStreams(): Denial<RunLevel> | undefined {
    return this.#exceeded((level, kind) => level.spent[kind] + level.#reserved[kind])
  }

  #exceeded(takenOf: (level: RunLevel, kind: AmountKind) => number): Denial<RunLevel> | undefined {
    for (const level of this.chain) {
      for (const kind of AMOUNT_KINDS) {
        const limit = level.#limits[kind]
        if (limit !== undefined && takenOf(level, kind) > limit) return { level, kind, remaining: 0 }
      }
    }
    return undefined
  }

  spend(more: Amounts): void {
    for (const level of this.chain) level.spent = plus(level.spent, more)
  }

  /** Adds to what running calls hold and have not used. */
  addUnused(more: Amounts, isStreamed: boolean): void {
    for (const level of this.chain) {
      if (isStreamed) level.#unused = plus(level.#unused, more)
      else level.#reserved = plus(level.#reserved, more)
    }
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

  /** Asks the application for more. Resolves with true if the reason for the question is gone. */
  async #ask(ask: (end: RunEnd) => MaybePromise<RunBounds | undefined>, end: RunEnd): Promise<boolean> {
    try {
      const answer = (await ask(end)) ?? undefined
      const more = answer && limitsOf('onExhausted', answer, 0)
      if (!more || this.end || !raises(more, end.bound)) return false
      this.#raise(more)
      return true
    } catch (error) {
      this.stop(new BudgetExhausted(end, { cause: error }))
      return false
    }
  }

  #raise(more: Limits): void {
    for (const kind of [...AMOUNT_KINDS, 'ms'] as const) {
      const limit = this.#limits[kind]
      const largest = kind === 'ms' ? this.run.keepMs : UNBOUNDED
      if (limit !== undefined) this.#limits[kind] = Math.min(largest, limit + (more[kind] ?? 0))
    }
    this.loops?.reset()
    if (more.ms) this.#startTimer()
    for (const level of this.#withChildren()) level.#applyLimits()
    this.run.changes.changed()
  }

  #applyLimits(): void {
    this.#limiter.setLimits(({ level, kind }) => level.#limits[kind])
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

  #shownLimit(kind: AmountKind | 'seconds' | 'loop'): string | number | undefined {
    if (kind === 'loop') return this.loops?.repeats
    if (kind === 'seconds') return (this.#limits.ms ?? 0) / 1_000
    return shownLimit(kind, this.#limits[kind] ?? 0)
  }
}

function raises(more: Limits, bound: RunEnd['bound']): boolean {
  if (bound === 'loop') return true
  return Number(more[bound === 'seconds' ? 'ms' : (bound as AmountKind)] ?? 0) > 0
}
