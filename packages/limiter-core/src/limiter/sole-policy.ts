import { andThen } from '../contracts/maybe-promise.ts'
import type { Counter, Decision, MaybePromise, Moment } from '../contracts.ts'
import { chargeOf, counterOf } from './charges.ts'
import type { LimiterBans } from './limiter-bans.ts'
import type { OpenPolicy } from './open-policy.ts'

/** The only policy of a limiter, whose takes need no list of charges. */
export class SolePolicy {
  readonly #open: OpenPolicy
  readonly #bans: LimiterBans
  /** The counter of every key; undefined if keys have different limits. */
  readonly #counter: Counter | undefined
  readonly #isShadow: boolean
  readonly #canBan: boolean

  private constructor(open: OpenPolicy, bans: LimiterBans) {
    this.#open = open
    this.#bans = bans
    this.#counter = open.overrides || open.terms ? undefined : open.counter
    this.#isShadow = open.mode === 'shadow'
    this.#canBan = open.ban !== undefined
  }

  /** Returns undefined if there are several policies, or if the policy exempts keys or reads a ban for each request. */
  static of([first, ...others]: readonly OpenPolicy[], bans: LimiterBans): SolePolicy | undefined {
    if (!first || others.length > 0 || first.overrides?.exemptsOthers) return undefined
    const isSimple = first.mode === 'enforce' || first.counter.takeAdvisory !== undefined
    return isSimple && (!first.ban || first.ban.latest) ? new SolePolicy(first, bans) : undefined
  }

  /** Takes whole units. Returns undefined, and takes nothing, if a ban may have begun. */
  take(key: string, units: number, moment: Moment | undefined): MaybePromise<Decision> | undefined {
    if (this.#canBan && this.#open.ban?.latest?.endsAt !== Number.NEGATIVE_INFINITY) return undefined
    const counter = this.#counter ?? counterOf(this.#open, key)
    const advisory = this.#isShadow ? counter.takeAdvisory?.(key, units, moment) : undefined
    const decision = advisory ?? counter.take(key, units, moment)
    return this.#canBan ? this.#struck(key, units, decision, moment) : decision
  }

  #struck(
    key: string,
    units: number,
    decision: MaybePromise<Decision>,
    moment: Moment | undefined,
  ): MaybePromise<Decision> {
    return andThen(decision, (answered) =>
      answered.binding.allowed ? answered : this.#bans.struck(chargeOf(this.#open, key, units), answered, moment),
    )
  }
}
