import { mergedAnswer } from '../charge-parts.ts'
import { clockOf } from '../clock.ts'
import type { Answer, Backend, Charge, Clock, Decision, MaybePromise, Moment, Observer, Step } from '../contracts.ts'
import { allOf, andThen } from '../maybe-promise.ts'
import { RequestDecision, vetoed } from '../verdict.ts'
import { checkedAnswer } from './checked-answer.ts'
import type { FailoverRule } from './failover-options.ts'
import { FailureRule } from './failure-rule.ts'
import { GuardedCalls, type Limits, type Target } from './guarded-calls.ts'
import { type Health, healthOf } from './health.ts'
import { PendingAdjustment } from './pending-adjustment.ts'
import { mayCountUnanswered, PendingTake, type PendingTakeDeps } from './pending-take.ts'
import { Repayment } from './repayment.ts'

/**
 * A backend that always answers: within the deadline, and at once while its breaker is open; by the failure rule where
 * the one behind it does not. Never throws and never rejects. Limiters on one backend share what is known of it.
 */
export class FailoverBackend implements Backend {
  readonly name: string
  readonly synchronous: boolean
  readonly #remote: Backend
  readonly #clock: Clock
  readonly #deadlineMs: number
  readonly #health: Health
  readonly #rule: FailureRule
  readonly #calls: GuardedCalls
  readonly #parts: PendingTakeDeps
  readonly #repayment: Repayment
  readonly #leave: () => void

  /** `rules` are those of steps that have their own; how long a call may take is `rule`'s to say. */
  constructor(
    remote: Backend,
    rule: FailoverRule,
    clock: Clock | undefined,
    rules: ReadonlyMap<Step, FailoverRule> = new Map(),
  ) {
    this.name = remote.name
    this.synchronous = remote.synchronous === true
    this.#remote = remote
    this.#clock = clockOf(clock)
    this.#deadlineMs = rule.deadlineMs
    this.#health = healthOf(remote, clock, rule.deadlineMs)
    this.#rule = new FailureRule(rule, rules, this.#health.mirror)
    this.#calls = new GuardedCalls(remote, this.#health, this.#clock, rule.deadlineMs, () => this.#repayment.begin())
    this.#parts = { remote, health: this.#health, rule: this.#rule }
    this.#repayment = new Repayment(this.#parts, this.#calls, this.#clock)
    this.#leave = this.#health.join()
  }

  take(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    const { breaker } = this.#health
    if (!breaker.admits()) {
      const held = this.#held(charges, moment)
      return held ?? this.#meanwhile(charges, (now) => this.#rule.take(charges, now, 'uncounted'), moment)
    }
    let sent = charges
    let heardAt = 0
    let mayCount = true
    return this.#calls.call(
      {
        operation: 'take',
        send: (limits, now) => {
          heardAt = this.#health.mirror.callAt(now)
          sent = this.#withKnown(charges, now)
          const answer = this.#remote.take(sent, limits)
          mayCount = mayCountUnanswered(this.#remote, sent)
          return answer
        },
        answered: (answer, now) => this.#recorded(charges, answer, now, heardAt),
        ruled: (now, basis) => {
          for (const charge of sent) this.#rule.handBack(charge, charge.known, now, basis)
          return this.#rule.take(charges, now, mayCount ? basis : 'uncounted')
        },
      },
      moment,
    )
  }

  takeOne(key: string, step: Step, count: string, cost: number, moment?: Moment): MaybePromise<Decision> {
    const take = new PendingTake(this.#parts, key, step, count, cost)
    if (this.#health.breaker.admits()) return this.#calls.call(take, moment)
    const held = this.#held([take], moment)
    if (held) return new RequestDecision(held)
    const now = this.#clock.now()
    if (this.#calls.passedOver(now)) this.#calls.probe([take], now)
    return take.ruled(moment?.now ?? now, 'uncounted')
  }

  peek(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    const { breaker, mirror } = this.#health
    const ruled = (now: number): Answer => this.#rule.peek(charges, now)
    if (!breaker.admits()) return this.#meanwhile(charges, ruled, moment)
    let heardAt = 0
    const send = (limits: Limits, now: number): MaybePromise<Answer> => {
      heardAt = mirror.callAt(now)
      return this.#remote.peek(charges, limits)
    }
    // what it says of a time that the caller names says nothing of now
    const isNow = moment?.now === undefined
    // a backend that was told nothing may know less than this process
    const came = (answer: Answer, now: number): Answer =>
      isNow
        ? this.#recorded(charges, answer, now, mirror.hasUnreported(now) ? undefined : heardAt, false)
        : checkedAnswer(answer, charges)
    return this.#calls.call({ operation: 'peek', send, answered: came, ruled }, moment)
  }

  adjust(charges: readonly Charge[], takenAt: number, moment?: Moment): MaybePromise<Answer> {
    if (moment?.uncounted) return this.#adjustUncounted(charges, takenAt, moment.now ?? this.#clock.now())
    // each by itself, so that of those that fail it is known which did
    const answers = charges.map((charge) => this.#adjustOne(charge, takenAt, moment))
    if (charges.length === 1) return answers[0]
    const parts = charges.map((_, index) => ({ indexes: [index] }))
    return andThen(allOf(answers), (all) => mergedAnswer(parts, all))
  }

  reset(targets: readonly Target[]): MaybePromise<void> {
    if (targets.length === 0) return
    this.#rule.reset(targets)
    this.#health.owed.forgetAdjustments(targets)
    const ruled = (): void => this.#health.owed.addResets(targets)
    if (!this.#health.breaker.admits()) return this.#meanwhile(targets, ruled)
    return this.#calls.call({
      operation: 'reset',
      send: () => this.#remote.reset(targets),
      answered: () => undefined,
      ruled,
    })
  }

  observe(observer: Observer): () => void {
    const stops = [
      this.#calls.observers.add(observer),
      this.#health.observers.add(observer),
      this.#remote.observe?.(observer),
    ]
    return () => {
      for (const stop of stops) stop?.()
    }
  }

  /** Ends what waits, by the failure rule, and leaves the backend open. */
  close(): void {
    this.#calls.close()
    this.#leave()
  }

  #adjustOne(charge: Charge, takenAt: number, moment: Moment | undefined): MaybePromise<Answer> {
    const { breaker, owed, skewMs } = this.#health
    const adjustment = { charge, takenAt, idempotencyKey: moment?.idempotencyKey, attempts: 0, moved: 0 }
    // not earlier than the take by our clock, so that what belongs to it finds its window here
    const ruled = (now: number): Answer =>
      this.#rule.adjust([charge], takenAt + skewMs + this.#deadlineMs, now, 'counted')
    if (breaker.admits()) return this.#calls.call(new PendingAdjustment(this.#parts, adjustment, ruled), moment)
    const answer = this.#meanwhile([charge], ruled, moment)
    owed.addAdjustment({ ...adjustment, moved: this.#rule.movedOf(charge) })
    return answer
  }

  /** What the rule took is given back here, and at the backend where it was told of it since. */
  #adjustUncounted(charges: readonly Charge[], takenAt: number, now: number): Answer {
    const answer = this.#rule.adjust(charges, takenAt, now, 'uncounted')
    // not earlier than the take by its clock, so that what belongs to it finds its window there
    const takenThereAt = takenAt - this.#health.skewMs + this.#deadlineMs
    for (const charge of this.#rule.takeToldBack(charges)) {
      const moved = Math.max(charge.cost, this.#rule.movedOf(charge))
      this.#health.owed.addAdjustment({ charge, takenAt: takenThereAt, attempts: 0, moved })
    }
    if (this.#health.owed.any) this.#repayment.begin()
    return answer
  }

  /** What the backend answers of what it holds, while nobody asks it. */
  #held(charges: readonly Charge[], moment: Moment | undefined): Answer | undefined {
    const now = this.#clock.now()
    const answer = this.#remote.takeHeld?.(charges, moment)
    if (!answer) return undefined
    if (this.#health.breaker.mayProbe(now)) this.#calls.probe(charges, now)
    return this.#recorded(charges, answer, now, this.#health.mirror.callAt(now))
  }

  #meanwhile<R>(targets: readonly Target[], ruled: (now: number) => R, moment?: Moment): R {
    // the breaker is shared: a caller's reading of whatever clock is no matter to it
    const now = this.#clock.now()
    if (this.#calls.passedOver(now)) this.#calls.probe(targets, now)
    return ruled(moment?.now ?? now)
  }

  #withKnown(charges: readonly Charge[], now: number): readonly Charge[] {
    if (!this.#health.mirror.hasUnreported(now)) return charges
    return charges.map((charge) => {
      const known = this.#rule.known(charge, now)
      return known ? { ...charge, known } : charge
    })
  }

  /** Remembers what the backend told, where it is said in answer to a call of when. Throws where it is no answer. */
  #recorded(
    charges: readonly Charge[],
    answer: Answer,
    now: number,
    heardAt: number | undefined,
    takes = true,
  ): Answer {
    const checked = checkedAnswer(answer, charges)
    const { verdicts, takenAt } = checked
    if (heardAt !== undefined && verdicts.length === charges.length) {
      const isTaken = takes && !vetoed(verdicts)
      for (let index = 0; index < charges.length; index++) {
        const { allowed, remaining, resetAfterMs } = verdicts[index]
        const moved = isTaken && allowed ? charges[index].cost : 0
        this.#rule.record(charges[index], remaining, resetAfterMs, now, heardAt, moved)
      }
    }
    this.#health.skewMs = now - takenAt
    return checked
  }
}
