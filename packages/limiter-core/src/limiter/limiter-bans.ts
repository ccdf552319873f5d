import { banDurationMs } from '../ban/ban-duration.ts'
import type { BanningBackend } from '../ban/banning-backend.ts'
import type { OpenBan } from '../ban/open-ban.ts'
import { andThen } from '../contracts/maybe-promise.ts'
import type { Charge, Decision, MaybePromise, Moment } from '../contracts.ts'
import { RequestDecision } from '../decision/verdict.ts'
import { oneOf } from '../options/options.ts'
import type { Duration } from '../time/duration.ts'
import { chargeOf } from './charges.ts'
import type { Outcome } from './limiter.ts'
import type { OpenPolicy } from './open-policy.ts'

/** The bans of a limiter. `index` is the position of a policy among those that are not off. */
export class LimiterBans {
  readonly #all: readonly OpenBan[]
  readonly #open: readonly OpenPolicy[]
  readonly #backend: BanningBackend | undefined

  /** `all`: bans of all policies. `open`: the policies that are not off. `backend`: undefined if none bans keys. */
  constructor(all: readonly OpenBan[], open: readonly OpenPolicy[], backend: BanningBackend | undefined) {
    this.#all = all
    this.#open = open
    this.#backend = backend
  }

  /** Takes over what the limiter that was replaced knows of bans. */
  follow(previous: LimiterBans): void {
    if (previous.#backend) this.#backend?.follow(previous.#backend)
  }

  /** Bans the keys of charges. Throws as `Limiter.ban`. */
  ban(charges: () => readonly Charge[], duration: Duration): MaybePromise<void> {
    const ms = banDurationMs(duration, this.#all)
    return this.#backend?.ban(charges(), ms)
  }

  /** Like `ban`, for a key of one policy. */
  banOne(index: number, key: string, duration: Duration): MaybePromise<void> {
    const { ban } = this.#open[index]
    const ms = banDurationMs(duration, ban ? [ban] : [])
    return this.#backend?.ban([this.#chargeOf(index, key)], ms)
  }

  /** Counts the strike of a take that a limit has denied while no key was banned. */
  struck(charge: Charge, decision: Decision, moment: Moment | undefined): MaybePromise<Decision> {
    const answer = this.#backend?.struck([charge], decision, moment) ?? decision
    return andThen(answer, RequestDecision.of)
  }

  /** Reports how the work of an allowed take ended. Throws as `Limiter.report`. */
  report(charges: () => readonly Charge[], outcome: Outcome): MaybePromise<void> {
    oneOf('outcome', outcome, ['success', 'failure'])
    return this.#backend?.report(charges(), outcome)
  }

  /** Like `report`, for a key of one policy. */
  reportOne(index: number, key: string, outcome: Outcome): MaybePromise<void> {
    return this.#backend?.report([this.#chargeOf(index, key)], outcome)
  }

  /** Lifts the ban of a key in one policy, and forgets its strikes and earlier bans. */
  liftOne(index: number, key: string): MaybePromise<void> {
    return this.#backend?.lift([this.#chargeOf(index, key)])
  }

  #chargeOf(index: number, key: string): Charge {
    return chargeOf(this.#open[index], key, 0)
  }
}
