import {
  createLimiter,
  type Hold,
  type Limiter,
  type MaybePromise,
  type ObservedLimiter,
  type Observer,
} from '@sluice/limiter-core'
import type { AmountKind, Amounts } from './run-amounts.ts'
import type { RunContext } from './run-context.ts'

/** A bound of a budget, as a policy. */
export interface BoundPolicy<Level> {
  readonly name: string
  readonly level: Level
  readonly kind: AmountKind
  /** As it was configured. Limiters with a count in common need the same limit. */
  readonly limit: number
}

/** A bound that denies units, and what it has left. */
export interface Denial<Level> {
  readonly level: Level
  readonly kind: AmountKind
  readonly remaining: number
}

/** Holds units of several bounds of a run, or of none of them. */
export class RunLimiter<Level> {
  readonly #id: string
  readonly #bounds: readonly BoundPolicy<Level>[]
  readonly #limiter: Limiter
  #observed: ObservedLimiter | undefined

  constructor(
    { id, backend, clock, holdMs, keepMs, deadlineMs, observers }: RunContext,
    bounds: readonly BoundPolicy<Level>[],
  ) {
    this.#id = id
    this.#bounds = bounds
    const own: Observer = {
      limiterOpened: (observed) => {
        this.#observed = observed
      },
    }
    this.#limiter = createLimiter({
      policies: bounds.map(({ name, kind, limit }) => ({
        name,
        limit,
        window: keepMs,
        // its window begins with the first call, and the run ends in it
        algorithm: 'fixed-window',
        unit: kind === 'usd' ? 'micro-usd' : kind,
        maxHoldMs: holdMs,
      })),
      backend,
      clock,
      scope: `run ${id}`,
      shared: true,
      onBackendError: 'deny',
      deadlineMs,
      observers: [...observers, own],
    })
  }

  hold(amounts: Amounts): MaybePromise<Hold> {
    return this.#limiter.hold(this.#id, { reserve: this.costs(amounts) })
  }

  /** Returns the units of each policy. */
  costs(amounts: Amounts): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#bounds.map(({ name, kind }) => [name, amounts[kind]]))
  }

  /** Returns the bounds that denied a hold. */
  denials({ decision: { verdicts } }: Hold): readonly Denial<Level>[] {
    return verdicts.flatMap(({ allowed, policy, remaining }) => {
      const bound = this.#bounds.find(({ name }) => name === policy.name)
      return allowed || !bound ? [] : [{ level: bound.level, kind: bound.kind, remaining }]
    })
  }

  /** Returns what is left of the bounds of a level, in all processes. */
  async left(level: Level): Promise<ReadonlyMap<AmountKind, number>> {
    const { verdicts } = await this.#limiter.peek(this.#id, 0)
    const own = this.#bounds.filter((bound) => bound.level === level)
    return new Map(
      own.map(({ name, kind }) => [kind, verdicts.find(({ policy }) => policy.name === name)?.remaining ?? 0]),
    )
  }

  /** Replaces limits, as an operator does. Bounds without a limit keep theirs. */
  setLimits(limitOf: (bound: BoundPolicy<Level>) => number | undefined): void {
    const raised = this.#bounds.filter((bound) => (limitOf(bound) ?? bound.limit) !== bound.limit)
    if (raised.length === 0) return
    const policies = new Map(raised.map((bound) => [bound.name, { limit: limitOf(bound) }]))
    this.#observed?.control({ policies, blockedMs: () => 0 }, this)
  }

  close(): MaybePromise<void> {
    return this.#limiter.close()
  }
}
