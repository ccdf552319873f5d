import {
  andThen,
  type Clock,
  isPromise,
  type LimiterHold,
  type MaybePromise,
  wholeCost,
} from '@sluice/limiter-core/http'
import type { RateCheck } from '../gates/rate-check.ts'
import type { LimiterReport } from '../report/limiter-report.ts'

/** The units of one policy while the response streams. */
interface StreamedPolicy {
  readonly name: string
  /** Units of one extension. */
  readonly step: number
  readonly aborts: boolean
  held: number
  /** Undefined before the first report. */
  used: number | undefined
  /** Whether the response continues without further extensions. */
  isUnheld: boolean
}

/** Largest cost of a request. */
const MOST = Number.MAX_SAFE_INTEGER

/** Units of some policies. */
type Units = ReadonlyMap<StreamedPolicy, number>

/** What a stream budget needs of its request. */
export interface StreamedRequest {
  readonly report: LimiterReport
  readonly clock: Clock
  /** Whether the final cost of a policy is known, so that it needs no more units. */
  isSettled(policy: string): boolean
  /** Called when the units of policies are used up and the response has to end, and again with each later report. */
  onExhausted(policies: readonly string[]): void
}

/**
 * Extends the hold of one limiter while a response streams: by more units when its handler has used the held ones, and
 * by time while it runs. Methods never throw and never reject.
 */
export class StreamBudget {
  readonly #hold: LimiterHold
  readonly #request: StreamedRequest
  readonly #policies: readonly StreamedPolicy[]
  /** No units of any policy of the limiter. */
  readonly #none: Readonly<Record<string, number>>
  /** The extension in progress. There is at most one. */
  #extension: MaybePromise<boolean> | undefined
  #exhausted: readonly string[] | undefined
  #hasEnded = false
  #stopTimer: (() => void) | undefined

  constructor(hold: LimiterHold, { gate: { plan }, keys, costs }: RateCheck<never, never>, request: StreamedRequest) {
    this.#hold = hold
    this.#request = request
    this.#policies = plan.flatMap(({ policy: { name }, cost: { stream } }, index): StreamedPolicy[] => {
      if (!stream || keys[index] === undefined) return []
      const step = stream.extendBy ?? Math.max(1, costs[index])
      const aborts = stream.onExhausted === 'abort'
      return [{ name, step, aborts, held: costs[index], used: undefined, isUnheld: false }]
    })
    this.#none = Object.fromEntries(plan.map(({ policy }) => [policy.name, 0]))
    this.#renewLater()
  }

  has(policy: string): boolean {
    return this.#policies.some(({ name }) => name === policy)
  }

  /** Returns the units that were reported for a policy; undefined without a report. */
  usedOf(policy: string): number | undefined {
    return this.#policies.find(({ name }) => name === policy)?.used
  }

  /** Records units that an extension of the handler holds. */
  addHeld(units: number, policy: string | undefined): void {
    for (const one of this.#of(policy)) one.held += units
  }

  /** Records used units. Returns whether the response may continue. */
  add(units: number, policy: string | undefined): MaybePromise<boolean> {
    if (this.#hasEnded) return false
    try {
      wholeCost(units)
      for (const one of this.#of(policy)) one.used = Math.min(MOST, (one.used ?? 0) + units)
    } catch (error) {
      this.#request.report.hookFailed('used', error, 'and the units are not counted')
    }
    return this.#extendIfUsed()
  }

  /** Ends the extensions when the response has ended. */
  end(): void {
    this.#hasEnded = true
    this.#stopTimer?.()
  }

  #of(policy: string | undefined): readonly StreamedPolicy[] {
    return policy === undefined ? this.#policies : this.#policies.filter(({ name }) => name === policy)
  }

  #extendIfUsed(): MaybePromise<boolean> {
    if (this.#extension !== undefined) return this.#extension
    if (this.#exhausted) {
      this.#request.onExhausted(this.#exhausted)
      return false
    }
    if (this.#hasEnded) return false
    const usedUp = this.#policies.filter(
      ({ name, held, used = -1, isUnheld }) => used >= held && !isUnheld && !this.#request.isSettled(name),
    )
    if (usedUp.length === 0) return true
    const steps = new Map(usedUp.map((one) => [one, missingUnits(one)]))
    const done = andThen(this.#extendOrLess(steps), (more) => {
      this.#extension = undefined
      if (!more) return this.#denied(usedUp)
      for (const [one, units] of more) one.held += units
      // the handler may have used more in the meantime
      return this.#extendIfUsed()
    })
    if (isPromise(done)) this.#extension = done
    return done
  }

  #denied(usedUp: readonly StreamedPolicy[]): MaybePromise<boolean> {
    const denied = this.#hold.decision.verdicts.flatMap(({ allowed, shadow, policy }) =>
      allowed || shadow ? [] : policy.name,
    )
    const own = usedUp.filter(({ name }) => denied.includes(name))
    // another policy of the limiter can deny the extension too
    const affected = own.length > 0 ? own : usedUp
    for (const one of affected) if (!one.aborts) one.isUnheld = true
    // a response that ends with the last held unit is complete
    const exhausted = affected.filter(({ aborts, held, used = 0 }) => aborts && used > held)
    if (exhausted.length > 0) this.#exhausted = exhausted.map(({ name }) => name)
    return this.#exhausted || affected.some(({ isUnheld }) => isUnheld) ? this.#extendIfUsed() : true
  }

  /**
   * Holds more units, or those that are left if they are enough. Returns what it has held; undefined if nothing. Other
   * requests may take some of the units that are left before they are held, so it tries again with fewer.
   */
  #extendOrLess(steps: Units): MaybePromise<Units | undefined> {
    return andThen(this.#extend(steps), (fits) => {
      if (fits) return steps
      const left = this.#leftOf(steps)
      return left && this.#extendOrLess(left)
    })
  }

  /** Returns the units that are left for steps that do not fit; undefined if the used units need more. */
  #leftOf(steps: Units): Units | undefined {
    const remaining = new Map(this.#hold.decision.verdicts.map((verdict) => [verdict.policy.name, verdict.remaining]))
    const left = new Map([...steps].map(([one, units]) => [one, Math.min(units, remaining.get(one.name) ?? 0)]))
    const isLess = [...left].some(([one, units]) => units !== steps.get(one))
    return isLess && [...left].every(([one, units]) => units >= neededUnits(one)) ? left : undefined
  }

  /** Holds more units. Returns true if the call fails: the units are spent at the end in any case. */
  #extend(more: Units): MaybePromise<boolean> {
    const failed = (error: unknown): boolean => {
      this.#request.report.hookFailed('extend', error, 'the response continues without a larger hold')
      return true
    }
    const units = { ...this.#none }
    for (const [{ name }, each] of more) units[name] = each
    try {
      const done = this.#hold.extend(units)
      return isPromise(done) ? done.catch(failed) : done
    } catch (error) {
      return failed(error)
    }
  }

  #renewLater(): void {
    this.#stopTimer = this.#request.clock.after(this.#hold.forMs / 2, () => {
      this.#extend(new Map())
      if (!this.#hasEnded) this.#renewLater()
    })
  }
}

/** Returns the units of the steps that hold all used units: one step or more. */
function missingUnits(one: StreamedPolicy): number {
  return Math.min(MOST, Math.ceil(neededUnits(one) / one.step) * one.step)
}

/** Returns the units that have to be held before the response continues: one or more. */
function neededUnits({ held, used = 0 }: StreamedPolicy): number {
  return Math.max(1, used - held)
}
