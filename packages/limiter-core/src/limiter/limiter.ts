import { type ChargedBackend, GroupedBackend } from '../backend/grouped-backend.ts'
import { allOf, andThen, isPromise } from '../contracts/maybe-promise.ts'
import type {
  Answer,
  Charge,
  Clock,
  Counter,
  Decision,
  LimiterControls,
  MaybePromise,
  Moment,
  ObservedRequest,
  Policy,
} from '../contracts.ts'
import { ChargeVerdict, RequestDecision } from '../decision/verdict.ts'
import { compileFailover, type FailoverRule } from '../failover/failover-options.ts'
import type { Observers } from '../observers/observers.ts'
import { observeCharges } from './charge-observation.ts'
import { type Costs, chargeOf, chargesOf, type Keys } from './charges.ts'
import { ControlledPolicies } from './controlled-policies.ts'
import { wholeCost, wholeUnitsMoved } from './cost.ts'
import { coverPolicies } from './cover-policies.ts'
import { joinedControls } from './joined-controls.ts'
import { LimiterHandle } from './limiter-handle.ts'
import type { OpenPolicy } from './open-policy.ts'
import { EXEMPTED, limitOf, OFF, takenAtOf, wasCounted, wasExempt, wasOff } from './taken-charges.ts'

/** Framework-free limits: for messages, queues, jobs, and whatever an adapter does not see. */
export interface Limiter<D extends MaybePromise<Decision> = MaybePromise<Decision>> {
  readonly policies: readonly Policy[]
  /** Spends `cost` (default 1; 0 asks nothing) on all policies, or on none. A fraction of a unit is a unit. */
  take(key: Keys, cost?: Costs, moment?: Moment): D
  /** What `take` would answer; changes nothing. */
  peek(key: Keys, cost?: Costs, moment?: Moment): D
  /**
   * Adds `units` without asking: more than fits becomes debt, a negative number is a refund. `taken` is the decision
   * (or its `takenAt`) to which the units belong; default: now.
   */
  charge(key: Keys, units: Costs, taken?: Decision | number): D
  /** Makes the key as good as new in every policy. */
  reset(key: Keys): MaybePromise<void>
  /** Lets go of everything that this limiter opened, its names too. Backends that were handed in stay open. */
  close(): MaybePromise<void>
}

/** A limiter over policies that are open: makes charges of keys and costs, and a decision of the backend's answer. */
export class PolicyLimiter implements Limiter {
  readonly policies: readonly Policy[]
  /** What an operator steers; undefined where all is as it was built. */
  controlled: ControlledPolicies | undefined
  /** By who steers. */
  #controls: ReadonlyMap<object, LimiterControls> = new Map()
  /** Those that are not off. */
  readonly #open: readonly OpenPolicy[]
  readonly #backend: ChargedBackend | undefined
  readonly #clock: Clock | undefined
  readonly #observers: Observers
  /** That of the only policy, where it is enforced, has no overrides, and nobody steers it. */
  #sole: Counter | undefined
  /** Whether keys without an override are exempt from one of the policies. */
  readonly #exempts: boolean
  readonly #close: (() => void)[]

  constructor(
    policies: readonly OpenPolicy[],
    clock: Clock | undefined,
    observers: Observers,
    failover: FailoverRule = compileFailover({}),
  ) {
    this.policies = policies.map(({ policy }) => policy)
    const active = policies.filter(({ mode }) => mode !== 'off')
    const covered = coverPolicies(active, clock, failover)
    this.#open = covered.policies
    this.#clock = clock
    this.#observers = observers
    const backends = [...new Set(this.#open.map(({ backend }) => backend))]
    this.#backend = backends.length > 1 ? new GroupedBackend(covered.homes) : backends[0]
    this.#sole = soleOf(this.#open)
    this.#exempts = this.#open.some(({ overrides }) => overrides?.exemptsOthers)
    const observed = observers.any ? backends.flatMap((backend) => backend.observe?.(observers) ?? []) : []
    this.#close = [covered.close, ...observed, ...policies.map(({ close }) => close)]
    if (observers.any) this.#openTo(observers, new LimiterHandle(active, this))
  }

  take(key: Keys, cost: Costs = 1, moment?: Moment): MaybePromise<Decision> {
    const sole = this.#sole
    if (!sole || typeof key !== 'string' || typeof cost !== 'number') {
      const charges = this.#charges(key, cost)
      return charges.length > 0 ? this.#take(charges, moment) : this.#uncounted()
    }
    const decision = sole.take(
      key,
      cost === 1 ? 1 : wholeCost(cost),
      this.#clock ? this.#momentAt(moment, this.#clock) : moment,
    )
    if (!this.#observers.any) return decision
    return andThen(decision, (answered) => {
      this.#observers.decided(key, answered, moment?.request)
      return answered
    })
  }

  /**
   * `take` with one checked key and one checked cost for each policy that is not off, in their order. A policy without
   * a key is not asked; one has a key at least.
   */
  takeEach(keys: readonly (string | undefined)[], costs: readonly number[], moment?: Moment): MaybePromise<Decision> {
    if (this.#sole) return this.take(keys[0] as string, costs[0], moment)
    const charges: Charge[] = []
    for (let index = 0; index < this.#open.length; index++) {
      const key = keys[index]
      if (key !== undefined) charges.push(chargeOf(this.#open[index], key, costs[index]))
    }
    return this.#take(charges, moment)
  }

  /** `charge` of one policy, by its place among those that are not off. */
  chargeOne(index: number, key: string, units: number, taken: Decision): MaybePromise<Answer> {
    const open = this.#open[index]
    const charge = this.#adjustment(open, chargeOf(open, key, wholeUnitsMoved(units)), taken)
    return this.#adjust([charge], takenAtOf(taken, charge), this.#momentOf(taken, charge))
  }

  /** `reset` of one policy, by its place among those that are not off. */
  resetOne(index: number, key: string): MaybePromise<void> {
    return (this.#backend as ChargedBackend).resetAll([chargeOf(this.#open[index], key, 0)])
  }

  /** What one policy counts, by its place among those that are not off: also while it is switched off, or the key is blocked. */
  peekOne(index: number, key: string, cost: number): MaybePromise<Decision> {
    const own = chargeOf(this.#open[index], key, wholeCost(cost))
    const charge = this.controlled?.limited(own) ?? own
    const answer = (this.#backend as ChargedBackend).peekAll([charge], this.#moment())
    return andThen(answer, (answered) => new RequestDecision(answered))
  }

  /** From now on these hold, and none of before by the same owner. Throws where a policy cannot have a limit of them. */
  control(controls: LimiterControls | undefined, owner: object): void {
    const byOwner = new Map(this.#controls)
    if (controls) byOwner.set(owner, controls)
    else byOwner.delete(owner)
    const joined = joinedControls([...byOwner.values()])
    this.controlled = joined && new ControlledPolicies(this.#open, joined)
    this.#controls = byOwner
    this.#sole = joined ? undefined : soleOf(this.#open)
  }

  peek(key: Keys, cost: Costs = 1, moment?: Moment): MaybePromise<Decision> {
    const asked = this.#charges(key, cost)
    const blocked = this.controlled?.blocked(asked)
    if (blocked) return new RequestDecision(blocked)
    const charges = this.controlled?.charged(asked) ?? asked
    if (!this.#backend || charges.length === 0) return this.#uncounted()
    const answer = this.#backend.peekAll(charges, moment ?? this.#moment())
    return andThen(answer, (answered) => new RequestDecision(answered))
  }

  charge(key: Keys, units: Costs, taken?: Decision | number): MaybePromise<Decision> {
    const charges = this.#adjustments(key, units, taken)
    if (!this.#backend || charges.length === 0)
      return this.#uncounted(typeof taken === 'object' ? taken.source : undefined)
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

  reset(key: Keys): MaybePromise<void> {
    return this.#backend?.resetAll(chargesOf(this.#open, key, 0, wholeCost))
  }

  close(): void {
    for (const stop of this.#close.splice(0)) stop()
  }

  #openTo(observers: Observers, handle: LimiterHandle): void {
    observers.limiterOpened(handle)
    this.#close.push(() => observers.limiterClosed(handle))
  }

  #take(asked: readonly Charge[], moment: Moment | undefined): MaybePromise<Decision> {
    if (!this.#backend) return this.#uncounted()
    const request = moment?.request
    const blocked = this.controlled?.blocked(asked)
    if (blocked) return this.#decided(asked, blocked, request)
    const charges = this.controlled?.charged(asked) ?? asked
    if (charges.length === 0) return this.#uncounted()
    const answer = this.#backend.takeAll(charges, this.#clock ? this.#momentAt(moment, this.#clock) : moment)
    return isPromise(answer)
      ? andThen(answer, (answered) => this.#decided(charges, answered, request))
      : this.#decided(charges, answer, request)
  }

  #adjust(charges: readonly Charge[], takenAt: number, moment: Moment | undefined): MaybePromise<Answer> {
    const answer = (this.#backend as ChargedBackend).adjustAll(charges, takenAt, moment)
    return observeCharges(this.#observers, charges, answer)
  }

  /** The moment of a take, read here where the caller did not. */
  #momentAt(moment: Moment | undefined, clock: Clock): Moment {
    return moment?.now === undefined ? { ...moment, now: clock.now() } : moment
  }

  #moment(): Moment | undefined {
    return this.#clock && { now: this.#clock.now() }
  }

  /** The moment at which units are added to what was taken, by one charge where several backends answered. */
  #momentOf(taken: Decision | number | undefined, charge?: Charge): Moment | undefined {
    if (typeof taken !== 'object' || taken === null || wasCounted(taken, charge)) return this.#moment()
    return { ...this.#moment(), uncounted: true }
  }

  #decided(charges: readonly Charge[], answer: Answer, request: ObservedRequest | undefined): Decision {
    const decision = new RequestDecision(answer)
    if (this.#observers.any) {
      const { policy } = decision.binding
      const charge = charges.find(({ counter }) => counter.compiled.policy === policy) ?? charges[0]
      this.#observers.decided(charge.key, decision, request)
    }
    return decision
  }

  /** None for a policy from which the key is exempt. */
  #charges(keys: Keys, costs: Costs): Charge[] {
    const charges = chargesOf(this.#open, keys, costs, wholeCost)
    if (!this.#exempts) return charges
    return charges.filter(({ key }, index) => !this.#open[index].overrides?.isExempt(key))
  }

  /** None for a policy that did not take: it was off, or the key exempt from it. Its key may have an override by now. */
  #adjustments(keys: Keys, units: Costs, taken: Decision | number | undefined): Charge[] {
    const charges = chargesOf(this.#open, keys, units, wholeUnitsMoved)
    return charges.flatMap((charge, index) => {
      const open = this.#open[index]
      const { overrides } = open
      if (typeof taken === 'object' && wasOff(taken, charge)) return []
      if (overrides?.exemptsOthers) {
        const isExempt = typeof taken === 'object' ? wasExempt(taken, charge) : overrides.isExempt(charge.key)
        if (isExempt) return []
      }
      return this.#adjustment(open, charge, taken)
    })
  }

  /** By the limit that took, which may be another one by now: a unit of it is not of the same size. */
  #adjustment({ counter, counters }: OpenPolicy, charge: Charge, taken: Decision | number | undefined): Charge {
    if (charge.counter !== counter) return charge
    const limit = typeof taken === 'object' ? limitOf(taken, charge) : undefined
    if (limit === undefined) return this.controlled?.limited(charge) ?? charge
    return { ...charge, counter: counters.of(limit) ?? counter }
  }

  /** The answer where every policy is off, or the key exempt from all: all is well, and nothing was counted. */
  #uncounted(source = this.#open.some(({ policy }) => !this.controlled?.isOff(policy)) ? EXEMPTED : OFF): Decision {
    const verdicts = this.policies.map((policy) => new ChargeVerdict(policy, false, policy.limit, 0, 0))
    return new RequestDecision({ verdicts, takenAt: 0, counted: false, source })
  }
}

/** The counter of the only policy, where it is enforced and has no overrides. */
function soleOf([first, ...others]: readonly OpenPolicy[]): Counter | undefined {
  return first?.mode === 'enforce' && !first.overrides && others.length === 0 ? first.counter : undefined
}
