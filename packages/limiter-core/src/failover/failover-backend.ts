import { clockOf } from '../clock.ts'
import type { Answer, Backend, Charge, Clock, Decision, MaybePromise, Moment, Observer, Step } from '../contracts.ts'
import { checkedAnswer } from './checked-answer.ts'
import type { FailoverRule } from './failover-options.ts'
import { FailureRule } from './failure-rule.ts'
import { GuardedCalls, type Limits, type Operation, type Target } from './guarded-calls.ts'
import { type Health, healthOf } from './health.ts'
import { OneTake, type TakeParts } from './one-take.ts'

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
  readonly #parts: TakeParts
  readonly #leave: () => void

  constructor(remote: Backend, rule: FailoverRule, clock: Clock | undefined) {
    this.name = remote.name
    this.synchronous = remote.synchronous === true
    this.#remote = remote
    this.#clock = clockOf(clock)
    this.#deadlineMs = rule.deadlineMs
    this.#health = healthOf(remote, clock, rule.deadlineMs)
    this.#rule = new FailureRule(rule, this.#health.mirror)
    this.#calls = new GuardedCalls(remote, this.#health, this.#clock, rule.deadlineMs)
    this.#parts = { remote, health: this.#health, rule: this.#rule }
    this.#leave = this.#health.join()
  }

  take(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    const ruled = (now: number): Answer => this.#rule.take(charges, now)
    const { breaker, mirror } = this.#health
    if (!breaker.admits()) return this.#meanwhile(charges, ruled, moment)
    const { generation } = mirror
    return this.#calls.call(
      {
        operation: 'take',
        send: (limits) => this.#remote.take(this.#withKnown(charges), limits),
        came: (answer, now) => this.#told(charges, answer, now, generation),
        ruled,
      },
      moment,
    )
  }

  takeOne(key: string, step: Step, count: string, cost: number, moment?: Moment): MaybePromise<Decision> {
    if (!this.#health.breaker.admits()) {
      const now = this.#clock.now()
      if (this.#calls.passedOver(now)) this.#calls.probe([{ key, step, count }], now)
      return this.#rule.takeOne(key, step, count, cost, moment?.now ?? now)
    }
    return this.#calls.call(new OneTake(this.#parts, key, step, count, cost), moment)
  }

  peek(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    const ruled = (now: number): Answer => this.#rule.peek(charges, now)
    const send = (limits: Limits): MaybePromise<Answer> => this.#remote.peek(charges, limits)
    return this.#asked('peek', charges, send, ruled, moment)
  }

  adjust(charges: readonly Charge[], takenAt: number, moment?: Moment): MaybePromise<Answer> {
    if (moment?.uncounted) return this.#rule.adjust(charges, takenAt, moment.now ?? this.#clock.now(), true)
    // not earlier than the take by our clock, so that what belongs to it finds its window here
    const ruled = (now: number): Answer =>
      this.#rule.adjust(charges, takenAt + this.#health.skewMs + this.#deadlineMs, now, false)
    // without a deadline: what is given back must arrive, also where nobody waits for it any more
    const send = ({ now }: Limits): MaybePromise<Answer> => this.#remote.adjust(charges, takenAt, { now })
    return this.#asked('adjust', charges, send, ruled, moment)
  }

  reset(targets: readonly Target[]): MaybePromise<void> {
    if (targets.length === 0) return
    this.#rule.reset(targets)
    const ruled = (): void => this.#health.owes(targets)
    if (!this.#health.breaker.admits()) return this.#meanwhile(targets, ruled)
    return this.#calls.call({
      operation: 'reset',
      send: () => this.#remote.reset(targets),
      came: () => undefined,
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

  /** A call that tells what is used and needs not know what is known. */
  #asked(
    operation: Operation,
    charges: readonly Charge[],
    send: (limits: Limits) => MaybePromise<Answer>,
    ruled: (now: number) => Answer,
    moment: Moment | undefined,
  ): MaybePromise<Answer> {
    const { breaker, mirror } = this.#health
    if (!breaker.admits()) return this.#meanwhile(charges, ruled, moment)
    const { generation } = mirror
    const came = (answer: Answer, now: number): Answer => this.#told(charges, answer, now, generation)
    return this.#calls.call({ operation, send, came, ruled }, moment)
  }

  #meanwhile<R>(targets: readonly Target[], ruled: (now: number) => R, moment?: Moment): R {
    // the breaker is shared: a caller's reading of whatever clock is no matter to it
    const now = this.#clock.now()
    if (this.#calls.passedOver(now)) this.#calls.probe(targets, now)
    return ruled(moment?.now ?? now)
  }

  #withKnown(charges: readonly Charge[]): readonly Charge[] {
    const { mirror } = this.#health
    const now = this.#clock.now()
    if (!mirror.mayBeUntold(now)) return charges
    return charges.map((charge) => {
      const known = this.#rule.untold(charge, now)
      return known ? { ...charge, known } : charge
    })
  }

  /** Remembers what the backend told. Throws where it is no answer. */
  #told(charges: readonly Charge[], answer: Answer, now: number, generation: number): Answer {
    const { verdicts, takenAt } = checkedAnswer(answer, charges)
    if (verdicts.length === charges.length) {
      for (let index = 0; index < charges.length; index++) {
        const { remaining, resetAfterMs } = verdicts[index]
        this.#rule.told(charges[index], remaining, resetAfterMs, now, generation)
      }
    }
    this.#health.skewMs = now - takenAt
    return answer
  }
}
