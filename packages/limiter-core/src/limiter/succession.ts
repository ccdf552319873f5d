import { plainCharge } from '../backend/plain-charge.ts'
import { allOf, andThen } from '../contracts/maybe-promise.ts'
import type { Answer, Charge, Clock, MaybePromise, Moment } from '../contracts.ts'
import { hasDenial } from '../decision/verdict.ts'
import { CarriedCounts, readsSameCells } from './carried-counts.ts'
import { chargeOf } from './charges.ts'
import type { OpenPolicy } from './open-policy.ts'

/** Place of a key in the counts of a successor. */
interface Place {
  readonly open: OpenPolicy
  readonly carried: true | Promise<void>
}

/** The limiters before and after a limiter whose policies change. */
export class Succession {
  readonly #open: readonly OpenPolicy[]
  readonly #clock: Clock | undefined
  readonly #close: () => void
  /** Usage under earlier policies. */
  #carried: CarriedCounts | undefined
  #isCarrying = false
  #ended: () => void = () => {}
  #next: Succession | undefined

  /** `open`: the policies that are not off. `close` closes their counters. */
  constructor(open: readonly OpenPolicy[], clock: Clock | undefined, close: () => void) {
    this.#open = open
    this.#clock = clock
    this.#close = close
  }

  /** Whether usage under earlier policies may have to be carried before a call. */
  get isCarrying(): boolean {
    if (this.#isCarrying && this.#carried?.isOver) {
      this.#isCarrying = false
      this.#ended()
    }
    return this.#isCarrying
  }

  /** Whether another limiter has taken the place of this one. */
  get isReplaced(): boolean {
    return this.#next !== undefined
  }

  /**
   * Takes the place of an earlier limiter, whose counters stay open for requests in progress. `ended` is called when
   * none of its usage counts any longer.
   */
  follow(previous: Succession, ended: () => void): void {
    this.#ended = ended
    previous.#next = this
    const replaced = { policies: previous.#open, earlier: previous.#carried, close: previous.#close }
    this.#carried = new CarriedCounts(this.#open, replaced, this.#clock)
    this.#isCarrying = !this.#carried.isOver
  }

  /** Sends a call when usage of the keys of its charges under earlier policies has been carried. */
  after<T>(charges: readonly Charge[], moment: Moment | undefined, send: () => MaybePromise<T>): MaybePromise<T> {
    return this.isCarrying && this.#carried ? this.#carried.after(charges, moment, send) : send()
  }

  /** Resets keys under earlier policies, so that their usage is not carried any more. */
  reset(charges: readonly Charge[]): MaybePromise<void> | undefined {
    return this.isCarrying ? this.#carried?.reset(charges) : undefined
  }

  /**
   * Returns a function that repeats what a call has counted in the counts of the successors that carried a key before
   * the call. Call this method before the call.
   */
  repeater(charges: readonly Charge[]): (counted: readonly Charge[]) => MaybePromise<void> {
    const places = new Map(charges.map((charge) => [charge, this.#placesOf(charge)]))
    return (counted) => {
      const repeated = counted.flatMap(
        (charge) => places.get(charge)?.map((place) => this.#repeat(charge, place)) ?? [],
      )
      return andThen(allOf(repeated), () => undefined)
    }
  }

  /** Sends a take of this limiter, which was replaced, and counts it in the counts of its successors too. */
  repeat(charges: readonly Charge[], take: () => MaybePromise<Answer>): MaybePromise<Answer> {
    const repeater = this.repeater(charges)
    return andThen(take(), (answer) => {
      const { verdicts } = answer
      if (hasDenial(verdicts)) return answer
      const fitsAll = verdicts.every(({ allowed }) => allowed)
      return andThen(repeater(charges.filter(({ advisory }) => fitsAll || !advisory)), () => answer)
    })
  }

  #placesOf({ key, counter }: Charge): readonly Place[] {
    const { name } = counter.compiled.policy
    const own = this.#open.find(({ policy }) => policy.name === name)
    const places: Place[] = []
    const isCounted = (open: OpenPolicy): boolean =>
      own === undefined || readsSameCells(own, open) || places.some((place) => readsSameCells(place.open, open))
    for (let next = this.#next; next; next = next.#next) {
      const carried = next.#carried?.carriedOf(name, key)
      const open = next.#open.find(({ policy }) => policy.name === name)
      if (carried && open && !isCounted(open)) places.push({ open, carried })
    }
    return places
  }

  #repeat(charge: Charge, { open, carried }: Place): MaybePromise<void> {
    // held units were carried as used
    const { key, cost } = plainCharge(charge)
    // the carried units have no time of their own
    const moment = this.#clock && { now: this.#clock.now() }
    const send = (): MaybePromise<Answer> =>
      open.backend.adjustAll([chargeOf(open, key, cost)], Number.POSITIVE_INFINITY, moment)
    return andThen(carried === true ? send() : carried.then(send), () => undefined)
  }

  close(): void {
    this.#carried?.close()
    this.#close()
  }
}
