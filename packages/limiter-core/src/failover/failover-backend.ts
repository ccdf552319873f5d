import { mergedAnswer } from '../backend/charge-parts.ts'
import { checkedAnswer } from '../backend/checked-answer.ts'
import type { RequestBackend } from '../backend/grouped-backend.ts'
import { allOf, andThen } from '../contracts/maybe-promise.ts'
import type {
  Answer,
  Backend,
  Charge,
  Clock,
  CountedKey,
  Counter,
  Decision,
  MaybePromise,
  Moment,
  Observer,
} from '../contracts.ts'
import { RequestDecision } from '../decision/verdict.ts'
import { Observers } from '../observers/observers.ts'
import { clockOf } from '../time/clock.ts'
import { AdmittedUnitsReporter } from './admitted-units.ts'
import { type BackendHealth, healthOf } from './backend-health.ts'
import { type FailoverCharge, FailoverCounter, type FailoverKey, remoteCharge, remoteKey } from './failover-counter.ts'
import type { FailoverRule } from './failover-options.ts'
import { FailureRules } from './failure-rules.ts'
import { type Call, GuardedCalls, type Limits } from './guarded-calls.ts'
import { adjustedUnitsOf, takeReportedRefunds } from './mirrored-charges.ts'
import { owedCallSender } from './owed-call-sender.ts'
import { PendingAdjustment } from './pending-adjustment.ts'
import { PendingTake, type PendingTakeDeps } from './pending-take.ts'
import { PendingTakes } from './pending-takes.ts'

/**
 * Puts failover in front of a remote backend. Every call is answered within the deadline, at once while the breaker is
 * open, and by the failure rule if the remote backend fails; calls never throw and never reject. All limiters on one
 * remote backend share its health.
 */
export class FailoverBackend implements RequestBackend {
  readonly synchronous: boolean
  readonly #remote: Backend
  readonly #clock: Clock
  readonly #deadlineMs: number
  readonly #health: BackendHealth
  readonly #rules: FailureRules
  readonly #observers: Observers = new Observers()
  readonly #calls: GuardedCalls
  readonly #parts: PendingTakeDeps
  /** Sends owed calls, if there are any. */
  readonly #repay: () => void
  readonly #leave: () => void

  /** `rule` sets the deadline. */
  constructor(remote: Backend, rule: FailoverRule, clock: Clock | undefined) {
    this.synchronous = remote.synchronous === true
    this.#remote = remote
    this.#clock = clockOf(clock)
    this.#deadlineMs = rule.deadlineMs
    this.#health = healthOf(remote, clock, rule.deadlineMs)
    this.#rules = new FailureRules(this.#health.mirror)
    this.#calls = new GuardedCalls({
      health: this.#health,
      observers: this.#observers,
      clock: this.#clock,
      deadlineMs: rule.deadlineMs,
      answered: () => {
        if (this.#health.owed.any) this.#repay()
      },
    })
    this.#parts = { remote, health: this.#health, passed: new AdmittedUnitsReporter(remote, this.#health) }
    this.#repay = owedCallSender(this.#parts, this.#calls, this.#clock)
    this.#leave = this.#health.join()
  }

  /** Returns a counter with failover for a counter of the remote backend. */
  wrap(remote: Counter, rule: FailoverRule): FailoverCounter {
    const mirror = this.#health.mirror.open(remote.compiled, remote.name, rule.share)
    return new FailoverCounter(this, remote, mirror, this.#rules.of(rule.source))
  }

  takeAll(requested: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    const charges = requested as readonly FailoverCharge[]
    const take = new PendingTakes(this.#parts, this.#rules, charges)
    if (this.#health.breaker.admits()) return this.#calls.call(take, moment)
    return this.#held(charges, moment) ?? this.#withoutBackend(take, charges, moment)
  }

  /** Implements `take` of a counter. */
  takeOne(counter: FailoverCounter, key: string, cost: number, moment?: Moment): MaybePromise<Decision> {
    const take = new PendingTake(this.#parts, counter, key, cost)
    if (this.#health.breaker.admits()) return this.#calls.call(take, moment)
    const held = this.#held([take], moment)
    return held ? new RequestDecision(held) : this.#withoutBackend(take, [take], moment)
  }

  peekAll(requested: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    const charges = requested as readonly FailoverCharge[]
    const { mirror } = this.#health
    const fallback = (now: number): Answer => this.#rules.peek(charges, now)
    let requestedAt = 0
    const send = (limits: Limits, now: number): MaybePromise<Answer> => {
      requestedAt = mirror.callAt(now)
      return this.#remote.peekAll(charges.map(remoteCharge), limits)
    }
    // an answer for a time that the caller passed does not describe the present
    const isNow = moment?.now === undefined
    // a backend that has not received all reports may have a lower count than this process
    const answered = (answer: Answer, now: number): Answer =>
      isNow
        ? this.#health.record(charges, answer, now, mirror.hasUnreported(now) ? undefined : requestedAt, false)
        : checkedAnswer(answer, charges)
    return this.#call({ operation: 'peek', send, answered, fallback }, charges, moment)
  }

  adjustAll(requested: readonly Charge[], takenAt: number, moment?: Moment): MaybePromise<Answer> {
    const charges = requested as readonly FailoverCharge[]
    if (moment?.uncounted) return this.#adjustUncounted(charges, takenAt, moment.now ?? this.#clock.now())
    // one call per charge, so that failed charges can be identified
    const answers = charges.map((charge) => this.#adjustOne(charge, takenAt, moment))
    if (charges.length === 1) return answers[0]
    const parts = charges.map((_, index) => ({ indexes: [index] }))
    return andThen(allOf(answers), (all) => mergedAnswer(parts, all))
  }

  resetAll(requested: readonly CountedKey[]): MaybePromise<void> {
    const keys = requested as readonly FailoverKey[]
    if (keys.length === 0) return
    this.#health.mirror.reset(keys)
    const there = keys.map(remoteKey)
    this.#health.owed.forgetAdjustments(there)
    const reset: Call<void, void> = {
      operation: 'reset',
      send: () => this.#remote.resetAll(there),
      answered: () => undefined,
      fallback: () => this.#health.owed.addResets(there),
    }
    return this.#call(reset, keys)
  }

  observe(observer: Observer): () => void {
    const stops = [
      this.#observers.add(observer),
      this.#health.observers.add(observer),
      this.#remote.observe?.(observer),
    ]
    return () => {
      for (const stop of stops) stop?.()
    }
  }

  /** Ends pending calls by the failure rule. The remote backend stays open. */
  close(): void {
    this.#calls.close()
    this.#observers.clear()
    this.#leave()
  }

  #adjustOne(charge: FailoverCharge, takenAt: number, moment: Moment | undefined): MaybePromise<Answer> {
    const adjustment = { charge, takenAt, idempotencyKey: moment?.idempotencyKey, attempts: 0, moved: 0 }
    // not earlier than the take by the process clock, so that the adjustment finds its window here
    const takenHereAt = takenAt + this.#health.skewMs + this.#deadlineMs
    const meanwhile = (now: number): Answer => this.#rules.adjust([charge], takenHereAt, now, 'counted')
    return this.#call(new PendingAdjustment(this.#parts, adjustment, meanwhile), [charge], moment)
  }

  /** Makes a call or, while the breaker is open, returns the answer of the failure rule. */
  #call<T, R>(call: Call<T, R>, keys: readonly FailoverKey[], moment?: Moment): MaybePromise<R> {
    return this.#health.breaker.admits() ? this.#calls.call(call, moment) : this.#withoutBackend(call, keys, moment)
  }

  /** Adjusts a take that the failure rule decided, here and, for units that were reported since, on the backend. */
  #adjustUncounted(charges: readonly FailoverCharge[], takenAt: number, now: number): Answer {
    const answer = this.#rules.adjust(charges, takenAt, now, 'uncounted')
    if (this.#parts.passed.isSupported) {
      this.#parts.passed.adjusted(charges, takenAt)
      return answer
    }
    // not earlier than the take by the backend's clock, so that the adjustment finds its window there
    const takenThereAt = takenAt - this.#health.skewMs + this.#deadlineMs
    for (const charge of takeReportedRefunds(charges)) {
      const moved = Math.max(charge.cost, adjustedUnitsOf(charge))
      this.#health.owed.addAdjustment({ charge, takenAt: takenThereAt, attempts: 0, moved })
    }
    this.#repay()
    return answer
  }

  /** Returns the answer from units that the backend holds in this process, without a call. */
  #held(charges: readonly FailoverCharge[], moment: Moment | undefined): Answer | undefined {
    const now = this.#clock.now()
    const answer = this.#remote.takeHeld?.(charges.map(remoteCharge), moment)
    if (!answer) return undefined
    if (this.#health.breaker.mayProbe(now)) this.#probe(charges, now)
    return this.#health.record(charges, answer, now, this.#health.mirror.callAt(now))
  }

  /** Returns the answer of the failure rule without calling the backend, and sends a probe if one is due. */
  #withoutBackend<T, R>(call: Call<T, R>, keys: readonly FailoverKey[], moment?: Moment): R {
    // the breaker needs process time, because callers with different times share it
    const now = this.#clock.now()
    if (this.#calls.skipped(now)) this.#probe(keys, now)
    return call.fallback(moment?.now ?? now, 'uncounted')
  }

  #probe(keys: readonly FailoverKey[], now: number): void {
    const charges = keys.map((one) => ({ ...remoteKey(one), cost: 0 }))
    // without a deadline, because even a late reply shows that a stall has ended
    this.#calls.probe(() => this.#remote.peekAll(charges, { now }), now)
  }
}
