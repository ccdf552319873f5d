import { GroupedBackend, type RequestBackend } from '../backend/grouped-backend.ts'
import { BanningBackend } from '../ban/banning-backend.ts'
import { allOf, andThen, isPromise } from '../contracts/maybe-promise.ts'
import type {
  Answer,
  Charge,
  Clock,
  Decision,
  LimiterControls,
  MaybePromise,
  Moment,
  ObservedRequest,
  Policy,
} from '../contracts.ts'
import { EXEMPTED, OFF } from '../decision/taken-charges.ts'
import { ChargeVerdict, RequestDecision } from '../decision/verdict.ts'
import { compileFailover, type FailoverRule } from '../failover/failover-options.ts'
import type { Observers } from '../observers/observers.ts'
import { clockOf } from '../time/clock.ts'
import type { Duration } from '../time/duration.ts'
import { Adjustments } from './adjustments.ts'
import { chargeOf, chargesOf, chargesOfEach, type Keys, type RequestTerms, resetsOf } from './charges.ts'
import { ControlledPolicies } from './controlled-policies.ts'
import { type Costs, wholeCost } from './costs/costs.ts'
import { withFailover } from './failover-policies.ts'
import type { HoldOptions } from './holds/hold.ts'
import { holdMsOf, type LimiterHold, longestHoldMs, openHold } from './holds/open-hold.ts'
import type { Limiter, Outcome } from './limiter.ts'
import { LimiterBans } from './limiter-bans.ts'
import { limiterHandle } from './limiter-handle.ts'
import { closeAll, type OpenPolicy } from './open-policy.ts'
import { SolePolicy } from './sole-policy.ts'
import { Succession } from './succession.ts'

/** A limiter over opened policies: turns keys and costs into charges, and the backend's answer into a decision. */
export class PolicyLimiter implements Limiter {
  readonly policies: readonly Policy[]
  readonly bans: LimiterBans
  /** The policies under the controls of operators; undefined if there are no controls. */
  controlled: ControlledPolicies | undefined
  /** Controls by owner. */
  #controls: ReadonlyMap<object, LimiterControls> = new Map()
  /** The policies that are not off. */
  readonly #open: readonly OpenPolicy[]
  readonly #backend: RequestBackend | undefined
  readonly #clock: Clock | undefined
  readonly #observers: Observers
  readonly #adjustments: Adjustments
  /** Fast path: the only policy, if there are no controls. */
  #sole: SolePolicy | undefined
  /** Whether at least one policy exempts keys without an override. */
  readonly #exempts: boolean
  /** Ends the reports to observers. */
  readonly #leave: (() => void)[]
  /** The limiters that this one has replaced, and that have replaced it. */
  readonly #succession: Succession

  constructor(
    policies: readonly OpenPolicy[],
    clock: Clock | undefined,
    observers: Observers,
    failover: FailoverRule = compileFailover({}),
  ) {
    const active = policies.filter(({ mode }) => mode !== 'off')
    const { policies: open, backendOf, close } = withFailover(active, clock, failover)
    const backends = [...new Set(open.map(({ backend }) => backend))]
    const counting = backends.length > 1 ? new GroupedBackend(backendOf) : backends[0]
    const bans = open.flatMap(({ ban }) => ban ?? [])
    const banning = bans.length > 0 ? new BanningBackend(counting, bans, clockOf(clock), observers) : undefined
    const backend = banning ?? counting
    const closes = [close, ...policies.map((one) => one.close)]
    const succession = new Succession(open, clock, closeAll(closes))
    const controlled = (): ControlledPolicies | undefined => this.controlled
    this.policies = policies.map(({ policy }) => policy)
    this.#open = open
    this.#clock = clock
    this.#observers = observers
    this.bans = new LimiterBans(
      policies.flatMap(({ ban }) => ban ?? []),
      open,
      banning,
    )
    this.#backend = backend
    this.#succession = succession
    this.#adjustments = new Adjustments({ open, backend, clock, observers, succession, controlled })
    this.#exempts = open.some(({ overrides }) => overrides?.exemptsOthers)
    this.#leave = observers.any ? backends.flatMap((one) => one.observe?.(observers) ?? []) : []
    this.#chooseSole()
    if (!observers.any) return
    const handle = limiterHandle(active, this)
    observers.limiterOpened(handle)
    this.#leave.push(() => observers.limiterClosed(handle))
  }

  take(key: Keys, cost: Costs = 1, moment?: Moment): MaybePromise<Decision> {
    if (this.#sole && typeof key === 'string' && typeof cost === 'number') {
      const at = this.#clock ? this.#momentAt(moment, this.#clock) : moment
      const decision = this.#sole.take(key, cost === 1 ? 1 : wholeCost(cost), at)
      if (decision) return this.#observers.any ? this.#observed(key, decision, moment) : decision
    }
    const charges = this.#charges(key, cost)
    return charges.length > 0 ? this.#take(charges, moment) : this.#uncounted()
  }

  /**
   * Like `take`, with one validated key and one validated cost per policy that is not off, in the same order. Policies
   * whose key is undefined are skipped; at least one key must be present.
   */
  takeEach(
    keys: readonly (string | undefined)[],
    costs: readonly number[],
    moment?: Moment,
    terms?: RequestTerms,
  ): MaybePromise<Decision> {
    if (this.#sole && !terms) return this.take(keys[0] as string, costs[0], moment)
    return this.#take(chargesOfEach(this.#open, keys, costs, terms), moment)
  }

  /** Like `takeEach`, but holds the costs of policies with `maxHoldMs`. */
  holdEach(
    keys: readonly (string | undefined)[],
    costs: readonly number[],
    moment?: Moment,
    terms?: RequestTerms,
  ): MaybePromise<LimiterHold> {
    return this.#hold(chargesOfEach(this.#open, keys, costs, terms), longestHoldMs(this.policies), moment)
  }

  /** Like `charge`, for one policy; `index` is its position among the policies that are not off. */
  chargeOne(index: number, key: string, units: number, taken: Decision): MaybePromise<Answer> {
    return this.#adjustments.chargeOne(index, key, units, taken)
  }

  /** Like `reset`, for one policy; `index` as in `chargeOne`. */
  resetOne(index: number, key: string): MaybePromise<void> {
    return this.#reset([chargeOf(this.#open[index], key, 0)])
  }

  /** Like `peek`, for one policy, even if controls switch it off or block the key; `index` as in `chargeOne`. */
  peekOne(index: number, key: string, cost: number): MaybePromise<Decision> {
    const own = chargeOf(this.#open[index], key, wholeCost(cost))
    const charge = this.controlled?.withLimit(own) ?? own
    return this.#peek([charge], this.#moment())
  }

  /**
   * Replaces the controls of an owner; undefined removes them. Throws `SLUICE_BAD_LIMIT` and changes nothing if a
   * policy cannot have one of the limits.
   */
  control(controls: LimiterControls | undefined, owner: object): void {
    const byOwner = new Map(this.#controls)
    if (controls) byOwner.set(owner, controls)
    else byOwner.delete(owner)
    this.controlled = byOwner.size > 0 ? new ControlledPolicies(this.#open, [...byOwner.values()]) : undefined
    this.#controls = byOwner
    this.#chooseSole()
  }

  peek(key: Keys, cost: Costs = 1, moment?: Moment): MaybePromise<Decision> {
    const requested = this.#charges(key, cost)
    const blocked = this.controlled?.blocked(requested)
    if (blocked) return new RequestDecision(blocked)
    const charges = this.controlled?.applyTo(requested) ?? requested
    if (!this.#backend || charges.length === 0) return this.#uncounted()
    return this.#peek(charges, moment ?? this.#moment())
  }

  charge(key: Keys, units: Costs, taken?: Decision | number): MaybePromise<Decision> {
    const charged = this.#adjustments.charge(key, units, taken)
    return charged ?? this.#uncounted(typeof taken === 'object' ? taken.source : undefined)
  }

  hold(key: Keys, options: HoldOptions): MaybePromise<LimiterHold> {
    const forMs = holdMsOf(options, this.policies)
    return this.#hold(this.#charges(key, options.reserve), forMs)
  }

  #hold(charges: readonly Charge[], forMs: number, moment?: Moment): MaybePromise<LimiterHold> {
    const take = (all: readonly Charge[], at?: Moment): MaybePromise<Decision> =>
      all.length > 0 ? this.#take(all, at) : this.#uncounted()
    return openHold({ clock: clockOf(this.#clock), take, adjustments: this.#adjustments }, charges, forMs, moment)
  }

  reset(key: Keys): MaybePromise<void> {
    return this.#backend && this.#reset(chargesOf(this.#open, key, 0, wholeCost))
  }

  /**
   * Takes the place of a limiter with other policies. Keys keep their usage under policies of the same name, whatever
   * has changed. Requests that the previous limiter has decided can still be settled and refunded.
   */
  replace(previous: PolicyLimiter): void {
    for (const { policy, terms } of this.#open) {
      const before = previous.#open.find((one) => one.policy.name === policy.name)?.terms
      if (before && before !== terms) terms?.follow(before)
    }
    this.bans.follow(previous.bans)
    this.#succession.follow(previous.#succession, () => this.#chooseSole())
    for (const stop of previous.#leave.splice(0)) stop()
    previous.#chooseSole()
    this.#chooseSole()
  }

  ban(key: Keys, duration: Duration): MaybePromise<void> {
    return this.bans.ban(() => this.#charges(key, 0), duration)
  }

  report(key: Keys, outcome: Outcome): MaybePromise<void> {
    return this.bans.report(() => this.#charges(key, 0), outcome)
  }

  close(): void {
    for (const stop of this.#leave.splice(0)) stop()
    this.#succession.close()
  }

  #peek(charges: readonly Charge[], moment: Moment | undefined): MaybePromise<Decision> {
    const peek = (): MaybePromise<Answer> => (this.#backend as RequestBackend).peekAll(charges, moment)
    return andThen(this.#succession.after(charges, moment, peek), RequestDecision.of)
  }

  #reset(charges: readonly Charge[]): MaybePromise<void> {
    const earlier = this.#succession.reset(charges)
    const counted = charges.flatMap((charge) => resetsOf(this.#open, charge))
    const reset = (this.#backend as RequestBackend).resetAll(counted)
    return earlier === undefined ? reset : andThen(allOf([earlier, reset]), () => undefined)
  }

  #chooseSole(): void {
    const { isCarrying, isReplaced } = this.#succession
    this.#sole = this.controlled || isCarrying || isReplaced ? undefined : SolePolicy.of(this.#open, this.bans)
  }

  #take(requested: readonly Charge[], moment: Moment | undefined): MaybePromise<Decision> {
    if (!this.#backend) return this.#uncounted()
    const blocked = this.controlled?.blocked(requested)
    if (blocked) return this.#decided(requested, blocked, moment?.request)
    const charges = this.controlled?.applyTo(requested) ?? requested
    if (charges.length === 0) return this.#uncounted()
    if (!this.#succession.isCarrying) return this.#takeFrom(charges, moment)
    return this.#succession.after(charges, moment, () => this.#takeFrom(charges, moment))
  }

  #takeFrom(charges: readonly Charge[], moment: Moment | undefined): MaybePromise<Decision> {
    const at = this.#clock ? this.#momentAt(moment, this.#clock) : moment
    const backend = this.#backend as RequestBackend
    const answer = this.#succession.isReplaced
      ? this.#succession.repeat(charges, () => backend.takeAll(charges, at))
      : backend.takeAll(charges, at)
    return isPromise(answer)
      ? andThen(answer, (answered) => this.#decided(charges, answered, moment?.request))
      : this.#decided(charges, answer, moment?.request)
  }

  /** Returns the moment of a take, with the clock's time unless the caller passed a time. */
  #momentAt(moment: Moment | undefined, clock: Clock): Moment {
    return moment?.now === undefined ? { ...moment, now: clock.now() } : moment
  }

  #moment(): Moment | undefined {
    return this.#clock && { now: this.#clock.now() }
  }

  #observed(key: string, decision: MaybePromise<Decision>, moment: Moment | undefined): MaybePromise<Decision> {
    return andThen(decision, (answered) => {
      this.#observers.decided(key, answered, moment?.request)
      return answered
    })
  }

  #decided(charges: readonly Charge[], answer: Answer, request: ObservedRequest | undefined): Decision {
    const decision = RequestDecision.of(answer)
    if (this.#observers.any) {
      const { policy } = decision.binding
      const charge = charges.find(({ counter }) => counter.compiled.policy === policy) ?? charges[0]
      this.#observers.decided(charge.key, decision, request)
    }
    return decision
  }

  /** Returns one charge per policy, except policies from which the key is exempt. */
  #charges(keys: Keys, costs: Costs): Charge[] {
    const charges = chargesOf(this.#open, keys, costs, wholeCost)
    if (!this.#exempts) return charges
    return charges.filter(({ key }, index) => !this.#open[index].overrides?.isExempt(key))
  }

  /** Returns an allowed decision that counted nothing, because every policy is off or the key is exempt from all. */
  #uncounted(source = this.#open.some(({ policy }) => !this.controlled?.isOff(policy)) ? EXEMPTED : OFF): Decision {
    const verdicts = this.policies.map((policy) => new ChargeVerdict(policy, false, policy.burst ?? policy.limit, 0, 0))
    return new RequestDecision({ verdicts, takenAt: 0, counted: false, source })
  }
}
