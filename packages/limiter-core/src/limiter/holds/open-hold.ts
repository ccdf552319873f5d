import { mergedAnswer } from '../../backend/charge-parts.ts'
import { allOf, andThen, isPromise } from '../../contracts/maybe-promise.ts'
import type { Answer, Charge, Clock, Decision, MaybePromise, Moment, Policy } from '../../contracts.ts'
import { RequestDecision } from '../../decision/verdict.ts'
import { badOption } from '../../errors/bad-option.ts'
import { SluiceError } from '../../errors/errors.ts'
import { optionsOf } from '../../options/options.ts'
import { parseTimerMs } from '../../time/duration.ts'
import { type Costs, unitsOf, wholeCost } from '../costs/costs.ts'
import { HeldPolicy, type SettlingCharge } from './held-policy.ts'
import type { Hold, HoldOptions } from './hold.ts'

/** The methods of a limiter that holds use. */
export interface HoldingLimiter {
  readonly clock: Clock
  take(charges: readonly Charge[], moment?: Moment): MaybePromise<Decision>
  readonly adjustments: {
    adjust(charges: readonly Charge[], takenAt: number, uncounted: boolean): MaybePromise<Answer>
    atLimitOf(taken: Decision, charge: Charge): Charge
  }
}

/** Returns the smallest `maxHoldMs` of policies. Throws `SLUICE_BAD_OPTION` if there is none. */
export function longestHoldMs(policies: readonly Policy[]): number {
  let longest = Number.POSITIVE_INFINITY
  for (const { maxHoldMs } of policies) if (maxHoldMs !== undefined && maxHoldMs < longest) longest = maxHoldMs
  if (longest < Number.POSITIVE_INFINITY) return longest
  const example = "{ limit: 100, window: '1m', maxHoldMs: '10m' }"
  throw new SluiceError('SLUICE_BAD_OPTION', `hold: expected a policy with maxHoldMs, such as ${example}`)
}

/** Returns the time of a hold under policies. Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`. */
export function holdMsOf(options: HoldOptions, policies: readonly Policy[]): number {
  optionsOf('hold', options, ['reserve', 'maxMs'])
  const longest = longestHoldMs(policies)
  if (options.maxMs === undefined) return longest
  const maxMs = parseTimerMs(options.maxMs, 'hold: maxMs')
  if (maxMs <= longest) return maxMs
  throw badOption('hold: maxMs', options.maxMs, `at most ${longest} ms, the maxHoldMs of the policies`)
}

/** Takes the units of a hold. `charges`: one for each policy that the key is subject to. */
export function openHold(
  limiter: HoldingLimiter,
  charges: readonly Charge[],
  forMs: number,
  moment?: Moment,
): MaybePromise<LimiterHold> {
  const parts = charges.map((charge) => ({ policy: new HeldPolicy(charge, forMs), units: charge.cost }))
  const more = parts.map(({ policy, units }) => policy.more(units))
  return andThen(limiter.take(more, moment), (decision) => {
    if (decision.allowed) record(limiter, parts, decision)
    return new LimiterHold(limiter, parts, forMs, decision)
  })
}

/** Units that one policy of a hold takes. */
interface TakenPart {
  readonly policy: HeldPolicy
  readonly units: number
}

/** Records what an allowed take has taken, under the modes and limits that applied to it. */
function record({ adjustments }: HoldingLimiter, parts: readonly TakenPart[], decision: Decision): void {
  for (const { policy, units } of parts) {
    policy.record(units, decision, adjustments.atLimitOf(decision, policy.charge))
  }
}

/** A hold of a limiter. Its calls follow each other, so that a stream that ends cannot lose an extension. */
export class LimiterHold implements Hold {
  readonly allowed: boolean
  decision: Decision
  /** Milliseconds after which the units return unless the hold is extended or settled. */
  readonly forMs: number
  readonly #limiter: HoldingLimiter
  readonly #policies: readonly HeldPolicy[]
  #isOpen: boolean
  #before: MaybePromise<unknown>
  #stopTimer: (() => void) | undefined

  constructor(limiter: HoldingLimiter, parts: readonly TakenPart[], forMs: number, decision: Decision) {
    this.allowed = decision.allowed
    this.decision = decision
    this.#limiter = limiter
    this.#policies = parts.map(({ policy }) => policy)
    this.forMs = forMs
    this.#isOpen = decision.allowed
    this.#startTimer()
  }

  extend(units: Costs): MaybePromise<boolean> {
    const wanted = this.#policies.map(({ policy }) => unitsOf(units, policy, wholeCost))
    return this.#afterOthers(() => {
      if (!this.#isOpen) return false
      const open = this.#policies.flatMap((policy, index) => (policy.isSettled ? [] : { policy, units: wanted[index] }))
      return andThen(this.#limiter.take(open.map(({ policy, units }) => policy.more(units))), (decision) => {
        this.decision = decision
        if (!decision.allowed) return false
        record(this.#limiter, open, decision)
        this.#startTimer()
        return true
      })
    })
  }

  settle(actual: Costs): MaybePromise<Decision> {
    return this.#settle(this.#policies.map(({ policy }) => unitsOf(actual, policy, wholeCost)))
  }

  /** Like `settle`, for one policy. The others stay open. */
  settleOne(name: string, actual: number): MaybePromise<Decision> {
    const units = wholeCost(actual)
    return this.#settle(this.#policies.map(({ policy }) => (policy === name ? units : undefined)))
  }

  release(): MaybePromise<Decision> {
    return this.settle(0)
  }

  /** Settles the policies with a number of units, which is undefined for the others. */
  #settle(spent: readonly (number | undefined)[]): MaybePromise<Decision> {
    return this.#afterOthers(() => {
      if (!this.#isOpen) return this.decision
      const settling: SettlingCharge[] = []
      this.#isOpen = false
      for (const [index, policy] of this.#policies.entries()) {
        const units = spent[index]
        if (units !== undefined) settling.push(...policy.settle(units))
        if (!policy.isSettled) this.#isOpen = true
      }
      if (!this.#isOpen) this.#stopTimer?.()
      return this.#adjust(settling)
    })
  }

  /** Runs a call after those that have not been answered yet. */
  #afterOthers<T>(run: () => MaybePromise<T>): MaybePromise<T> {
    const result = andThen(this.#before, run)
    this.#before = isPromise(result) ? result.then(() => undefined) : undefined
    return result
  }

  /** Returns units that were only taken when the time of the hold is over. */
  #startTimer(): void {
    this.#stopTimer?.()
    if (!this.#isOpen || !this.#policies.some(({ mustReturn }) => mustReturn)) return
    this.#stopTimer = this.#limiter.clock.after(this.forMs, () => {
      this.#afterOthers(() => this.#adjust(this.#policies.flatMap((policy) => policy.giveBack())))
    })
  }

  #adjust(settling: readonly SettlingCharge[]): MaybePromise<Decision> {
    if (settling.length === 0) return this.decision
    const groups = groupsOf(settling)
    const answers = groups.map(({ indexes, takenAt, uncounted }) => {
      const charges = indexes.map((index) => settling[index].charge)
      return this.#limiter.adjustments.adjust(charges, takenAt, uncounted)
    })
    return andThen(allOf(answers), (all) => {
      this.decision = new RequestDecision(all.length === 1 ? all[0] : mergedAnswer(groups, all))
      return this.decision
    })
  }
}

/** Charges that can be adjusted in one call, by their indexes. */
interface Group extends Pick<SettlingCharge, 'takenAt' | 'uncounted'> {
  readonly indexes: number[]
}

function groupsOf(settling: readonly SettlingCharge[]): readonly Group[] {
  const groups: Group[] = []
  for (const [index, { takenAt, uncounted }] of settling.entries()) {
    const group = groups.find((one) => one.takenAt === takenAt && one.uncounted === uncounted)
    if (group) group.indexes.push(index)
    // refunds of units that no backend has counted first: a call to the backend would report the units
    else groups[uncounted ? 'unshift' : 'push']({ takenAt, uncounted, indexes: [index] })
  }
  return groups
}
