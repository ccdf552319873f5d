import { isCounted } from '../backend/charge-parts.ts'
import type { RequestBackend } from '../backend/grouped-backend.ts'
import { allOf, andThen } from '../contracts/maybe-promise.ts'
import type { Answer, Charge, Clock, Decision, MaybePromise, Moment } from '../contracts.ts'
import { hasTaken, hasVerdict, policyOf, takenAtOf, wasCounted, wasOff } from '../decision/taken-charges.ts'
import { RequestDecision } from '../decision/verdict.ts'
import type { Observers } from '../observers/observers.ts'
import { chargeOf, chargesOf, type Keys } from './charges.ts'
import type { ControlledPolicies } from './controlled-policies.ts'
import { type Costs, integerUnits } from './costs/costs.ts'
import { preparedCounter } from './limit-counters.ts'
import type { OpenPolicy } from './open-policy.ts'
import type { Succession } from './succession.ts'

/** The parts of a limiter that its adjustments use. */
interface AdjustedLimiter {
  /** The policies that are not off. */
  readonly open: readonly OpenPolicy[]
  readonly backend: RequestBackend | undefined
  readonly clock: Clock | undefined
  readonly observers: Observers
  readonly succession: Succession
  /** Returns the controls of operators; undefined if there are none. */
  readonly controlled: () => ControlledPolicies | undefined
}

/** Adds units to earlier takes of a limiter, or refunds them, without a check. */
export class Adjustments {
  readonly #limiter: AdjustedLimiter

  constructor(limiter: AdjustedLimiter) {
    this.#limiter = limiter
  }

  /** Adjusts all policies that had a part in the take. Returns undefined if there is none. */
  charge(key: Keys, units: Costs, taken: Decision | number | undefined): MaybePromise<Decision> | undefined {
    const charges = this.#chargesOf(key, units, taken)
    return this.#limiter.backend && charges.length > 0 ? this.#adjustTake(charges, taken) : undefined
  }

  /** Adjusts charges of one take. `uncounted`: whether the failure rule decided it, so that the backend lacks it. */
  adjust(charges: readonly Charge[], takenAt: number, uncounted: boolean): MaybePromise<Answer> {
    return this.#adjust(charges, takenAt, this.#moment(uncounted))
  }

  #adjustTake(charges: readonly Charge[], taken: Decision | number | undefined): MaybePromise<Decision> {
    if (typeof taken !== 'object' || taken === null || !taken.takenAts) {
      const takenAt = typeof taken === 'number' ? taken : (taken?.takenAt ?? Number.POSITIVE_INFINITY)
      return andThen(this.#adjust(charges, takenAt, this.#momentOf(taken)), (answer) => new RequestDecision(answer))
    }
    const takenAts = charges.map((charge) => takenAtOf(taken, charge))
    const answers = charges.map((charge, index) =>
      this.#adjust([charge], takenAts[index], this.#momentOf(taken, charge)),
    )
    return andThen(allOf(answers), (all) => {
      const verdicts = all.flatMap((answer) => answer.verdicts)
      const countedEach = all.map(({ counted }) => counted)
      return new RequestDecision({ ...all[0], verdicts, takenAts, counted: !countedEach.includes(false), countedEach })
    })
  }

  /** Adjusts one policy; `index` is its position among the policies that are not off. */
  chargeOne(index: number, key: string, units: number, taken: Decision): MaybePromise<Answer> {
    const open = this.#limiter.open[index]
    const charge = this.atLimitOf(taken, chargeOf(open, key, integerUnits(units)))
    return this.#adjust([charge], takenAtOf(taken, charge), this.#momentOf(taken, charge))
  }

  #adjust(charges: readonly Charge[], takenAt: number, moment: Moment | undefined): MaybePromise<Answer> {
    const { backend, succession } = this.#limiter
    const adjust = (): MaybePromise<Answer> => (backend as RequestBackend).adjustAll(charges, takenAt, moment)
    const send = (): MaybePromise<Answer> =>
      andThen(succession.after(charges, moment, adjust), (answer) => this.#observed(charges, answer))
    if (!succession.isReplaced) return send()
    const repeat = succession.repeater(charges)
    return andThen(send(), (answer) => andThen(repeat(charges), () => answer))
  }

  /** Reports counted charges to observers, and returns the answer. */
  #observed(charges: readonly Charge[], answer: Answer): Answer {
    const { observers } = this.#limiter
    if (!observers.any) return answer
    for (const [index, { key, cost, counter }] of charges.entries()) {
      if (cost !== 0 && isCounted(answer, index)) observers.charged(key, cost, counter.compiled.policy)
    }
    return answer
  }

  /** Returns the moment of an adjustment: `uncounted` if the take, or its part for `charge`, was not counted. */
  #momentOf(taken: Decision | number | undefined, charge?: Charge): Moment | undefined {
    return this.#moment(typeof taken === 'object' && taken !== null && !wasCounted(taken, charge))
  }

  #moment(uncounted: boolean): Moment | undefined {
    const { clock } = this.#limiter
    const moment = clock && { now: clock.now() }
    return uncounted ? { ...moment, uncounted } : moment
  }

  /**
   * Returns one adjustment per policy, except policies that had no part in the take: they were off, the key was exempt,
   * or units that they have not taken would be refunded. The decision shows this, not the current overrides, which may
   * have changed since the take.
   */
  #chargesOf(keys: Keys, units: Costs, taken: Decision | number | undefined): Charge[] {
    const { open: policies } = this.#limiter
    const charges = chargesOf(policies, keys, units, integerUnits)
    return charges.flatMap((charge, index) =>
      hadPart(policies[index], charge, taken) ? this.atLimitOf(taken, charge) : [],
    )
  }

  /**
   * Returns the adjustment, on the counter of the limit and the window at the time of the take. They may have changed
   * since, and a unit of a different limit has a different weight.
   */
  atLimitOf(taken: Decision | number | undefined, charge: Charge): Charge {
    const { name } = charge.counter.compiled.policy
    const open = this.#limiter.open.find(({ policy }) => policy.name === name)
    const policy = typeof taken === 'object' ? policyOf(taken, charge) : undefined
    if (!policy || !open) return this.#limiter.controlled()?.withLimit(charge) ?? charge
    return { ...charge, counter: preparedCounter(open.counters, policy.limit, policy.windowMs) ?? charge.counter }
  }
}

/** Whether a policy had a part in a take. Without its decision: whether it counts the key. */
function hadPart({ policy, overrides }: OpenPolicy, charge: Charge, taken: Decision | number | undefined): boolean {
  if (typeof taken !== 'object') return !overrides?.exemptsOthers || !overrides.isExempt(charge.key)
  if (wasOff(taken, charge) || (charge.cost < 0 && !hasTaken(taken, policy.name))) return false
  return !overrides?.exemptsOthers || hasVerdict(taken, charge)
}
