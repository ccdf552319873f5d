import type { RequestBackend } from '../backend/grouped-backend.ts'
import { andThen } from '../contracts/maybe-promise.ts'
import type { Answer, BanTerms, Charge, Counter, MaybePromise, Moment } from '../contracts.ts'
import type { Observers } from '../observers/observers.ts'
import { banMs, levelFor, topLevelOf } from './ban-length.ts'
import { type ReadBan, readOf, restOf, usedOf } from './ban-reads.ts'
import { KnownBans } from './known-bans.ts'
import type { OpenBan } from './open-ban.ts'
import { RecentKeys } from './recent-keys.ts'
import { unawaited } from './unawaited.ts'

/** Time after which a request reads a known ban again, so that a lifted ban ends in all processes. */
const REREAD_MS = 1_000
/** Time after which a full count of strikes bans, if the process whose strike filled it did not. */
const OVERDUE_MS = 1_000
/** Part of a ban that must have passed before a request extends it on a backend with time slots. */
const SLOTTED_EXTENSION = 0.1
/** Time in which a process does not read a ban that it has replaced: a reset takes two ticks at most. */
const RENEWED_MS = 2_000
/** Most keys with strikes that a process remembers. */
const MOST_STRUCK = 10_000

/** Bans the keys of one policy. */
export class PolicyBan {
  readonly terms: BanTerms
  readonly isSynchronous: boolean
  readonly #open: OpenBan
  readonly #backend: RequestBackend
  readonly #now: () => number
  readonly #observers: Observers
  /** Bans on a backend that does not answer synchronously. */
  known: KnownBans = new KnownBans()
  /** Bans that this process has extended on a backend with time slots. */
  renewed: KnownBans = new KnownBans()
  /** Keys that had strikes when they were last read. */
  readonly #struck = new RecentKeys<true>(MOST_STRUCK)
  /** Times at which counts of strikes were first full. */
  readonly #full = new RecentKeys<number>(MOST_STRUCK)

  constructor(open: OpenBan, backend: RequestBackend, now: () => number, observers: Observers) {
    this.terms = open.terms
    this.isSynchronous = open.isSynchronous
    this.#open = open
    this.#backend = backend
    this.#now = now
    this.#observers = observers
  }

  /**
   * Returns the milliseconds for which a key is banned as far as this process knows; 0 if it is not. Also 0 for one
   * request a second, which reads the ban with its charges, so that a ban that was lifted denies no later request.
   */
  knownMs(key: string, now: number): number {
    const known = this.known.running(key, now)
    if (!known) return 0
    if (now - known.readAt >= REREAD_MS) {
      // the others do not wait for this request
      known.readAt = now
      return 0
    }
    if (this.terms.extends && known.ms !== undefined) known.until = Math.max(known.until, now + known.ms)
    return known.until - now
  }

  /** Whether no key is banned at `now`, as far as this process knows without a call. */
  isIdle(now: number): boolean {
    return now >= (this.#open.latest?.endsAt ?? Number.POSITIVE_INFINITY)
  }

  /** Reads the ban of a key, and extends it. Returns its rest in milliseconds; 0 if the key is not banned. */
  readMs(key: string, moment: Moment | undefined): MaybePromise<number> {
    const { running, isSlotted } = this.#open
    if (isSlotted) return this.#readSlottedMs(key, moment)
    return andThen(running[0].take(key, 0, moment), (read) => {
      const restMs = restOf(read.verdicts)
      if (restMs === 0 || !this.terms.extends) return restMs
      return andThen(this.#offencesOf(key, moment), (used) => this.#extended(key, used - 1, read, moment))
    })
  }

  /** Reads the counter of earlier bans first: without one, no ban can run, and the counters of all durations are unused. */
  #readSlottedMs(key: string, moment: Moment | undefined): MaybePromise<number> {
    const renewedMs = this.renewed.recentMs(key, this.#now(), RENEWED_MS)
    if (renewedMs > 0) return renewedMs
    return andThen(this.#offencesOf(key, moment), (used) => {
      if (used === 0 && !this.terms.extends) return 0
      const read = this.#read(key, this.#open.running, moment)
      return andThen(read, (answer) => this.#extended(key, used - 1, answer, moment))
    })
  }

  /** Number of bans of a key that are not forgotten; 1 if all bans are equally long. */
  #offencesOf(key: string, moment: Moment | undefined): MaybePromise<number> {
    const { offences } = this.#open
    if (!offences) return 1
    return andThen(offences.take(key, 0, moment), ({ verdicts: [verdict] }) => usedOf(offences, verdict))
  }

  /** Returns the charges that read the ban of a key, and what its terms need besides. */
  readsOf(key: string): Charge[] {
    const { running, strikes, offences } = this.#open
    const counters = this.terms.forgives ? [...running, strikes] : [...running]
    if (this.terms.extends && offences) counters.push(offences)
    return counters.map((counter) => readOf(key, counter))
  }

  /**
   * Handles the reply to `readsOf`, in a call at process time `calledAt`. Returns the rest of the ban in milliseconds; 0
   * if the key is not banned. Without the backend, a known ban continues.
   */
  restOf(key: string, { verdicts, counted }: ReadBan, calledAt: number): number {
    const { running, strikes } = this.#open
    const ms = restOf(verdicts.slice(0, running.length))
    if (!counted) return Math.max(ms, (this.known.running(key, calledAt)?.until ?? calledAt) - calledAt)
    if (this.terms.forgives) {
      if (usedOf(strikes, verdicts[running.length]) > 0) this.#struck.set(key, true)
      else this.#struck.delete(key)
    }
    if (ms > 0) this.#learn(key, ms, undefined, calledAt)
    else this.known.lifted(key, calledAt)
    return ms
  }

  /**
   * Extends a ban that a request read, if its terms say so. Returns the rest of the ban in milliseconds, after `restMs`
   * before. Nothing waits for the call.
   */
  extended(key: string, read: ReadBan, restMs: number, calledAt: number): number {
    const { offences } = this.#open
    if (!this.terms.extends || !read.counted || restMs === 0) return restMs
    const level = offences ? usedOf(offences, read.verdicts.at(-1)) - 1 : 0
    this.#learn(key, restMs, banMs(this.terms, Math.max(0, level)), calledAt)
    unawaited(this.#extended(key, level, read, undefined))
    return Math.max(restMs, banMs(this.terms, Math.max(0, level)))
  }

  /**
   * Counts a strike, and bans the key if it was the last one. Returns the duration of the ban in milliseconds; 0 if the
   * key is not banned now.
   */
  strike(key: string, moment: Moment | undefined): MaybePromise<number> {
    const calledAt = this.#now()
    const taken = this.#backend.takeAll([{ key, counter: this.#open.strikes, cost: 1 }], moment)
    return andThen(taken, (answer) => this.#struckBy(key, answer, calledAt, moment))
  }

  /** Bans a key for `ms`, at most `max`, unless it is banned for longer. Counts as a ban that makes the next one longer. */
  begin(key: string, ms: number): MaybePromise<unknown> {
    return andThen(this.#read(key, this.#open.running, undefined), (answer) => {
      const restMs = restOf(answer.verdicts)
      if (restMs >= ms) return
      return andThen(restMs > 0 && this.#lift(key), () => this.#start(key, answer, this.#now(), undefined, ms))
    })
  }

  /** Clears the strikes of a key after a success, without a call if there are none as far as this process knows. */
  forgive(key: string): MaybePromise<void> {
    if (!this.terms.forgives || (!this.isSynchronous && !this.#struck.get(key))) return
    this.#struck.delete(key)
    this.#full.delete(key)
    const { strikes } = this.#open
    if (!this.isSynchronous) return this.#backend.resetAll([{ key, counter: strikes }])
    return andThen(this.#read(key, [strikes], undefined), ({ verdicts: [verdict] }) =>
      usedOf(strikes, verdict) > 0 ? this.#backend.resetAll([{ key, counter: strikes }]) : undefined,
    )
  }

  /** The counters that a key has; they are reset to lift a ban. */
  get counters(): readonly Counter[] {
    const { running, strikes, offences } = this.#open
    return offences ? [...running, strikes, offences] : [...running, strikes]
  }

  /** Forgets what this process knows of a key, because its counters are reset. */
  forget(key: string): void {
    this.known.delete(key)
    this.renewed.delete(key)
    this.#struck.delete(key)
    this.#full.delete(key)
  }

  #read(key: string, counters: readonly Counter[], moment: Moment | undefined): MaybePromise<Answer> {
    return this.#backend.takeAll(
      counters.map((counter) => readOf(key, counter)),
      moment,
    )
  }

  #struckBy(key: string, answer: Answer, calledAt: number, moment: Moment | undefined): MaybePromise<number> {
    const { allowed, remaining } = answer.verdicts[0]
    // a fixed failure rule counts no strikes
    if (!answer.counted && answer.source !== 'local') return 0
    if (allowed && remaining > 0) {
      this.#full.delete(key)
      if (this.terms.forgives) this.#struck.set(key, true)
      return 0
    }
    return allowed || this.#isOverdue(key) ? this.#start(key, answer, calledAt, moment) : 0
  }

  /**
   * Whether the strikes of a key have been complete for a second without a ban: the process with the last strike has
   * crashed, or the backend adds up strikes later and none of them was the last one.
   */
  #isOverdue(key: string): boolean {
    const now = this.#now()
    const fullAt = this.#full.get(key)
    if (fullAt !== undefined && now - fullAt <= this.terms.withinMs) return now - fullAt >= OVERDUE_MS
    this.#full.set(key, now)
    return false
  }

  /** `asked`: duration of a ban by a call. Default: that of the next ban. */
  #start(
    key: string,
    struck: Answer,
    calledAt: number,
    moment: Moment | undefined,
    asked?: number,
  ): MaybePromise<number> {
    const { offences } = this.#open
    this.#full.delete(key)
    if (!offences) return this.#ban(key, 0, struck, calledAt, moment, asked)
    // the ban begins in this process before the backend has replied
    this.#learn(key, asked ?? banMs(this.terms, 0), undefined, calledAt)
    const offence = this.#backend.takeAll([{ key, counter: offences, cost: 1 }], moment)
    return andThen(offence, (answer) => {
      const [verdict] = answer.verdicts
      const level = verdict.allowed ? Math.max(0, usedOf(offences, verdict) - 1) : topLevelOf(this.terms)
      return this.#ban(key, level, answer, calledAt, moment, asked)
    })
  }

  #ban(
    key: string,
    level: number,
    answer: Answer,
    calledAt: number,
    moment: Moment | undefined,
    asked: number = banMs(this.terms, level),
  ): MaybePromise<number> {
    // there are time slots for certain durations only
    const slot = this.#open.isSlotted ? levelFor(this.terms, asked) : level
    const ms = this.#open.isSlotted ? banMs(this.terms, slot) : asked
    this.#learn(key, ms, ms, calledAt)
    const written = this.#write(key, slot, ms, answer, moment)
    const cleared = this.#backend.resetAll([{ key, counter: this.#open.strikes }])
    this.#struck.delete(key)
    if (this.#observers.any) this.#observers.event('ban', { key, policy: this.#open.policy, ms, level })
    return andThen(written, () => andThen(cleared, () => ms))
  }

  /** Writes a ban of `ms` from the time of an answer on. A shorter ban does not shorten a longer one. */
  #write(
    key: string,
    level: number,
    ms: number,
    { takenAt, counted }: Pick<ReadBan, 'takenAt' | 'counted'>,
    moment: Moment | undefined,
  ): MaybePromise<Answer> {
    const { running, isSlotted, latest } = this.#open
    if (latest) latest.endsAt = Math.max(latest.endsAt, this.#now() + ms, takenAt + ms)
    const counter = running[isSlotted ? Math.min(Math.max(0, level), running.length - 1) : 0]
    const at = isSlotted ? Number.POSITIVE_INFINITY : takenAt - (counter.compiled.policy.windowMs - ms)
    const { now } = moment ?? {}
    const when = now === undefined ? { uncounted: !counted } : { now, uncounted: !counted }
    return this.#backend.adjustAll([{ key, counter, cost: 1 }], at, when)
  }

  /** Returns the rest of the ban that was read, after it was extended. */
  #extended(key: string, level: number, read: ReadBan, moment: Moment | undefined): MaybePromise<number> {
    const restMs = restOf(read.verdicts.slice(0, this.#open.running.length))
    if (!this.terms.extends || restMs === 0) return restMs
    const ms = banMs(this.terms, Math.max(0, level))
    // the end in time slots is not exact
    if (restMs >= ms) return this.#open.isSlotted ? ms : restMs
    if (!this.#open.isSlotted) return andThen(this.#write(key, level, ms, read, moment), () => ms)
    if (ms - restMs > ms * SLOTTED_EXTENSION) this.#renew(key, level, ms, read)
    return restMs
  }

  /**
   * Replaces a ban on a backend with time slots: the end of a ban with units in two slots is not known exactly. Until the
   * ban has been written again, this process remembers it.
   */
  #renew(key: string, level: number, ms: number, read: ReadBan): void {
    const now = this.#now()
    this.renewed.set(key, { until: now + ms, readAt: now, ms })
    unawaited(andThen(this.#lift(key), () => this.#write(key, level, ms, read, undefined)))
  }

  #lift(key: string): MaybePromise<void> {
    return this.#backend.resetAll(this.#open.running.map((counter) => ({ key, counter })))
  }

  /** Remembers a ban. Its rest counts from the call, so that the backend decides about the last milliseconds. */
  #learn(key: string, restMs: number, ms: number | undefined, calledAt: number): void {
    if (!this.isSynchronous) this.known.set(key, { until: calledAt + restMs, readAt: calledAt, ms })
  }
}
