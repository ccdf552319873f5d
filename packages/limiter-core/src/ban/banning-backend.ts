import { isCounted, undo } from '../backend/charge-parts.ts'
import type { RequestBackend } from '../backend/grouped-backend.ts'
import { allOf, andThen, isPromise } from '../contracts/maybe-promise.ts'
import type { Answer, Charge, Clock, CountedKey, MaybePromise, Moment } from '../contracts.ts'
import { clientKeyOf } from '../keys/preflight.ts'
import type { Observers } from '../observers/observers.ts'
import type { ReadBan } from './ban-reads.ts'
import { longestWait } from './ban-reads.ts'
import { deniedBy, isDeniedBy, nameOf, placeOf, type Rests, withBans } from './banned-answers.ts'
import type { OpenBan } from './open-ban.ts'
import { PolicyBan } from './policy-ban.ts'
import { RecentKeys } from './recent-keys.ts'
import { unawaited } from './unawaited.ts'

/** Most banned keys whose waits are remembered. */
const MOST_WAITS = 10_000

/** A charge with the ban of its policy. */
interface Bannable {
  readonly ban: PolicyBan
  /** The banned key: that of the client, also for its preflights. */
  readonly key: string
}

/**
 * Denies banned keys and counts the strikes of others, in front of the backend of a limiter. A banned key takes no
 * units. Calls about bans never delay or reject the answer to a request.
 */
export class BanningBackend implements RequestBackend {
  readonly synchronous: boolean
  readonly #inner: RequestBackend
  /** By name of the policy. */
  readonly #bans: ReadonlyMap<string, PolicyBan>
  readonly #now: () => number
  /** Process times from which the limits admit banned keys, if the ban is known without a call. */
  #waits = new RecentKeys<number>(MOST_WAITS)

  constructor(inner: RequestBackend, bans: readonly OpenBan[], clock: Clock, observers: Observers) {
    const now = (): number => clock.now()
    this.synchronous = inner.synchronous === true
    this.#inner = inner
    this.#bans = new Map(bans.map((ban) => [ban.policy, new PolicyBan(ban, inner, now, observers)]))
    this.#now = now
  }

  takeAll(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    const now = moment?.now ?? this.#now()
    if (this.synchronous && this.#isIdle(now)) return this.#takeUnbanned(charges, moment)
    const bannable = charges.map((charge) => this.#bannable(charge))
    const known = this.#rests(charges, bannable, ({ ban, key }, { advisory }) =>
      ban.isSynchronous || advisory ? 0 : ban.knownMs(key, now),
    )
    const denied = isPromise(known) ? undefined : deniedBy(charges, known, () => this.#knownWait(bannable, now))
    if (denied) return denied
    const own = timeOf(moment)
    const read = this.#rests(charges, bannable, ({ ban, key }) => (ban.isSynchronous ? ban.readMs(key, own) : 0))
    return andThen(read, (rests) =>
      isDeniedBy(charges, rests) ? this.#denied(charges, rests, own) : this.#take(charges, bannable, rests, moment),
    )
  }

  #isIdle(now: number): boolean {
    for (const ban of this.#bans.values()) if (!ban.isIdle(now)) return false
    return true
  }

  #takeUnbanned(charges: readonly Charge[], moment: Moment | undefined): MaybePromise<Answer> {
    return andThen(this.#inner.takeAll(charges, moment), (answer) =>
      answer.verdicts.every(({ allowed }) => allowed) ? answer : this.struck(charges, answer, moment),
    )
  }

  /** Counts the strikes of a take, before which no key was banned. */
  struck(charges: readonly Charge[], answer: Answer, moment: Moment | undefined): MaybePromise<Answer> {
    const bannable = charges.map((charge) => this.#bannable(charge))
    return this.#struck(charges, bannable, answer, moment)
  }

  /** Takes over what a replaced limiter knows of bans. */
  follow(previous: BanningBackend): void {
    this.#waits = previous.#waits
    for (const [name, ban] of this.#bans) {
      const before = previous.#bans.get(name)
      if (!before) continue
      ban.known = before.known
      ban.renewed = before.renewed
    }
  }

  peekAll(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    const bannable = charges.map((charge) => this.#bannable(charge))
    const reads = bannable.flatMap((one) => one?.ban.readsOf(one.key) ?? [])
    const now = moment?.now ?? this.#now()
    return andThen(this.#inner.peekAll([...charges, ...reads], moment), (answer) => {
      const { own, reads: read } = splitAnswer(charges, bannable, answer)
      const rests = bannable.map((one, index) => restOf(one, read[index], now))
      return deniedBy(charges, rests, () => longestWait(own.verdicts)) ?? withBans(charges, own, rests)
    })
  }

  adjustAll(charges: readonly Charge[], takenAt: number, moment?: Moment): MaybePromise<Answer> {
    return this.#inner.adjustAll(charges, takenAt, moment)
  }

  /** Resets the counts of keys. Lifts their bans, and forgets their strikes and earlier bans. */
  resetAll(keys: readonly CountedKey[]): MaybePromise<void> {
    return this.#inner.resetAll([...keys, ...this.#bansOf(keys)])
  }

  /** Like `resetAll`, without the counts. */
  lift(keys: readonly CountedKey[]): MaybePromise<void> {
    const counted = this.#bansOf(keys)
    if (counted.length > 0) return this.#inner.resetAll(counted)
  }

  /** Bans keys for `ms`, under the policies that ban keys. */
  ban(keys: readonly CountedKey[], ms: number): MaybePromise<void> {
    const begun = keys.map((counted) => {
      const one = this.#bannable(counted)
      return one?.ban.begin(one.key, ms)
    })
    return andThen(allOf(begun), () => undefined)
  }

  /** Counts a failure as a strike, or clears the strikes after a success, as the policies of the keys require. */
  report(keys: readonly CountedKey[], outcome: 'success' | 'failure'): MaybePromise<void> {
    const reports = keys.flatMap((counted): MaybePromise<unknown>[] => {
      const { ban, key } = this.#bannable(counted) ?? {}
      if (!ban || key === undefined) return []
      if (outcome === 'success') return [ban.forgive(key)]
      return ban.terms.strikes === 'denials' ? [] : [ban.strike(key, undefined)]
    })
    return andThen(allOf(reports), () => undefined)
  }

  #bannable({ key, counter }: CountedKey): Bannable | undefined {
    const ban = this.#bans.get(counter.compiled.policy.name)
    return ban && { ban, key: clientKeyOf(key) }
  }

  #bansOf(keys: readonly CountedKey[]): CountedKey[] {
    return keys.flatMap((counted) => {
      const { ban, key } = this.#bannable(counted) ?? {}
      if (!ban || key === undefined) return []
      ban.forget(key)
      this.#waits.delete(key)
      return ban.counters.map((counter) => ({ key, counter }))
    })
  }

  #rests(
    charges: readonly Charge[],
    bannable: readonly (Bannable | undefined)[],
    msOf: (one: Bannable, charge: Charge) => MaybePromise<number>,
  ): MaybePromise<number[]> {
    return allOf(bannable.map((one, index) => (one ? msOf(one, charges[index]) : 0)))
  }

  /** Denies a request because of bans that were read. After the longest of the bans and the waits it may pass. */
  #denied(charges: readonly Charge[], rests: Rests, moment: Moment | undefined): MaybePromise<Answer> {
    const local = this.synchronous ? charges : charges.filter((_, index) => rests[index] > 0)
    return andThen(
      this.#inner.peekAll(local, moment),
      ({ verdicts }) => deniedBy(charges, rests, () => longestWait(verdicts)) as Answer,
    )
  }

  /** Returns how long the limits would deny a request without bans, and remembers it for its keys. */
  #learnWait(bannable: readonly (Bannable | undefined)[], answer: Answer, now: number): number {
    const waitMs = longestWait(answer.verdicts)
    for (const one of bannable) if (one && waitMs > 0) this.#waits.set(one.key, now + waitMs)
    return waitMs
  }

  #knownWait(bannable: readonly (Bannable | undefined)[], now: number): number {
    return Math.max(0, ...bannable.map((one) => (one ? (this.#waits.get(one.key) ?? 0) - now : 0)))
  }

  /** Takes the charges of keys that no enforced policy bans as far as is known. `shadow`: bans of policies in shadow. */
  #take(
    charges: readonly Charge[],
    bannable: readonly (Bannable | undefined)[],
    shadow: Rests,
    moment: Moment | undefined,
  ): MaybePromise<Answer> {
    const remote = bannable.map((one) => (one?.ban.isSynchronous ? undefined : one))
    const reads = remote.flatMap((one) => one?.ban.readsOf(one.key) ?? [])
    const all = reads.length > 0 ? [...charges, ...reads] : charges
    const calledAt = moment?.now ?? this.#now()
    return andThen(this.#inner.takeAll(all, moment), (answer) => {
      const split = reads.length > 0 ? splitAnswer(charges, remote, answer) : undefined
      const own = split?.own ?? answer
      const banned = shadow.map((ms, index) => Math.max(ms, extendedRest(remote[index], split?.reads[index], calledAt)))
      if (banned.every((ms) => ms === 0)) return this.#struck(charges, bannable, own, moment)
      const denied = deniedBy(charges, banned, () => this.#learnWait(remote, own, calledAt))
      // units that were taken although a policy bans its key
      const stands = ({ advisory }: Charge): boolean => denied === undefined && advisory !== true
      unawaited(undo({ backend: this.#inner, charges }, own, stands, moment))
      if (denied) return denied
      // a request of a banned key is not a strike
      const others = bannable.map((one, index) => (banned[index] > 0 ? undefined : one))
      return this.#struck(charges, others, withBans(charges, own, banned), moment)
    })
  }

  /**
   * Counts strikes. The request of the last strike still has the denial of the limit, on every backend; it names the end
   * of a ban that began at once.
   */
  #struck(
    charges: readonly Charge[],
    bannable: readonly (Bannable | undefined)[],
    answer: Answer,
    moment: Moment | undefined,
  ): MaybePromise<Answer> {
    if (answer.verdicts.every(({ allowed }) => allowed)) return answer
    const begun = charges.map((charge, index) => {
      const one = bannable[index]
      const at = placeOf(answer, charge, index)
      if (one?.ban.terms.strikes !== 'denials' || at < 0 || answer.verdicts[at].allowed) return 0
      // work that was allowed wants to hold more
      if (charge.hold?.from) return 0
      // a denial by the failure rule does not show that the client sent too much
      if (!isCounted(answer, at)) return 0
      const ms = one.ban.strike(one.key, timeOf(moment))
      if (!isPromise(ms)) return ms
      this.#learnWait([one], answer, moment?.now ?? this.#now())
      unawaited(ms)
      return 0
    })
    return withBans(charges, answer, begun)
  }
}

/** Returns the answer to the charges alone, and what was read of the ban of each; undefined if it was not read. */
function splitAnswer(
  charges: readonly Charge[],
  bannable: readonly (Bannable | undefined)[],
  answer: Answer,
): { readonly own: Answer; readonly reads: readonly (ReadBan | undefined)[] } {
  const names = new Set(charges.map(nameOf))
  const { verdicts, takenAts, countedEach } = answer
  const isOwn = verdicts.map(({ policy }) => names.has(policy.name))
  const own = <T>(values: readonly T[]): T[] => values.filter((_, index) => isOwn[index])
  return {
    own: {
      ...answer,
      verdicts: own(verdicts),
      ...(takenAts && { takenAts: own(takenAts) }),
      ...(countedEach && { countedEach: own(countedEach) }),
    },
    reads: bannable.map((one) => one && readIn(answer, one)),
  }
}

function readIn(answer: Answer, { ban, key }: Bannable): ReadBan | undefined {
  const { verdicts, takenAt, takenAts } = answer
  const places = ban.readsOf(key).map((read) => verdicts.findIndex(({ policy }) => policy.name === nameOf(read)))
  // backends after a denial are not called, and their bans are not read
  if (places.includes(-1)) return undefined
  const [at] = places
  return {
    verdicts: places.map((place) => verdicts[place]),
    takenAt: takenAts?.[at] ?? takenAt,
    counted: isCounted(answer, at),
  }
}

/** Returns the rest of a ban that was read; 0 if it was not read. */
function restOf(one: Bannable | undefined, read: ReadBan | undefined, calledAt: number): number {
  return one && read ? one.ban.restOf(one.key, read, calledAt) : 0
}

/** Like `restOf`, for a request that may extend the ban. */
function extendedRest(one: Bannable | undefined, read: ReadBan | undefined, calledAt: number): number {
  const restMs = restOf(one, read, calledAt)
  return one && read ? one.ban.extended(one.key, read, restMs, calledAt) : 0
}

/** Returns the time of a moment, without its request and its deadline. */
function timeOf(moment: Moment | undefined): Moment | undefined {
  return moment?.now === undefined ? undefined : { now: moment.now }
}
