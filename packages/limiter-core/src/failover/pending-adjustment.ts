import { mayHaveCounted } from '../backend/backend-failure.ts'
import { checkedAnswer } from '../backend/checked-answer.ts'
import { newIdempotencyKey } from '../backend/idempotency-key.ts'
import { plainCharge } from '../backend/plain-charge.ts'
import { isPromise } from '../contracts/maybe-promise.ts'
import type { Answer, MaybePromise, PriorUsage } from '../contracts.ts'
import type { Call, Limits } from './guarded-calls.ts'
import { adjustedUnitsOf } from './mirrored-charges.ts'
import type { OwedAdjustment } from './owed-calls.ts'
import type { Basis } from './own-units.ts'
import type { PendingTakeDeps } from './pending-take.ts'

/**
 * An adjustment of one charge in progress. It is owed if the backend does not apply it; if the reply is only late, once
 * the call fails. If the backend may have applied it, the same idempotency key is used again, so that it counts once.
 */
export class PendingAdjustment<R extends Answer | undefined> implements Call<Answer, Answer | R> {
  readonly operation = 'adjust'
  readonly #parts: PendingTakeDeps
  readonly #owed: OwedAdjustment
  readonly #meanwhile: (now: number) => R
  #known: PriorUsage | undefined
  #key: OwedAdjustment['idempotencyKey']
  #requestedAt = 0
  #answer: MaybePromise<Answer> | undefined

  /** `meanwhile` computes the answer if the backend did not reply. */
  constructor(parts: PendingTakeDeps, owed: OwedAdjustment, meanwhile: (now: number) => R) {
    this.#parts = parts
    this.#owed = owed
    this.#meanwhile = meanwhile
  }

  send({ now: asOf }: Limits, now: number): MaybePromise<Answer> {
    const { remote, health } = this.#parts
    const { charge, takenAt, idempotencyKey = newIdempotencyKey(now) } = this.#owed
    this.#requestedAt = health.mirror.callAt(now)
    const known = health.mirror.hasUnreported(now) ? health.mirror.missingUsage(charge, now) : undefined
    // a backend that has applied the adjustment ignores the usage: admitted units are reported by the next call
    if (this.#owed.idempotencyKey) health.mirror.handBack(charge, known, now, 'uncounted')
    this.#known = known && this.#owed.idempotencyKey ? { ...known, admitted: undefined } : known
    this.#key = idempotencyKey
    const sent = { ...charge, counter: charge.counter.remote, known: this.#known }
    // without a deadline: a refund must arrive even if nothing awaits it
    const answer = remote.adjustAll([sent], takenAt, { now: asOf, idempotencyKey })
    this.#answer = isPromise(answer) ? Promise.resolve(answer) : answer
    return this.#answer
  }

  answered(answer: Answer, now: number): Answer {
    const { health } = this.#parts
    const { charge } = this.#owed
    const checked = checkedAnswer(answer, [charge])
    health.mirror.record(charge, checked.verdicts[0], now, this.#requestedAt, plainCharge(charge).cost)
    health.skewMs = now - checked.takenAt
    return checked
  }

  fallback(now: number, basis: Basis): R {
    const { charge, idempotencyKey } = this.#owed
    this.#parts.health.mirror.handBack(charge, this.#known, now, basis)
    // applied here first, because owed units are the units by which this process is ahead of the backend
    const answer = this.#meanwhile(now)
    const moved = answer ? adjustedUnitsOf(charge) : this.#owed.moved
    const owe = (key: OwedAdjustment['idempotencyKey']): void => this.#owe(key, moved)
    if (basis === 'uncounted') owe(idempotencyKey)
    else if (this.#answer === undefined) owe(this.#key)
    else Promise.resolve(this.#answer).catch((error) => owe(mayHaveCounted(error) ? this.#key : idempotencyKey))
    return answer
  }

  #owe(idempotencyKey: OwedAdjustment['idempotencyKey'], moved: number): void {
    const { charge, takenAt, attempts } = this.#owed
    this.#parts.health.owed.addAdjustment({ charge, takenAt, idempotencyKey, attempts: attempts + 1, moved })
  }
}
