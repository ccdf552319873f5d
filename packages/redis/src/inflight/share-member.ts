import type { Cap, KeyShare, SharedKey } from '@sluice/limiter-core'
import type { Clock } from '@sluice/limiter-core/backend'
import { Deferred } from './deferred.ts'
import type { KeyArgs } from './report-script.ts'
import type { ShareReply } from './share-script.ts'

/** Milliseconds between two reports while places are lacking, at least, and for each process of the fleet. */
const [FAST_MS, FAST_MS_PER_PROCESS] = [50, 5]
/** Milliseconds between two reports otherwise: while there are requests, and at most. */
const [USED_MS, SLOW_MS] = [250, 1_000]
/** Part of a lease that is left for work to end after its process could not report. */
const GRACE = 1 / 4

/** Part of the time between two reports by which one may be early, to be sent with other keys. */
const EARLY = 1 / 4

/** What all keys of a process have in common. */
export interface ShareMemberDeps {
  readonly clock: Clock
  readonly leaseMs: number
  /** Resolves when the promise does, or after the time that a request may wait for the backend. */
  readonly inTime: (promise: Promise<unknown>) => Promise<void>
  /** Called when `dueAt` has become earlier. */
  readonly hurried: (member: ShareMember) => void
  /** Adds a member that reports from now on. */
  readonly joined: (member: ShareMember) => void
}

export interface ShareMemberState {
  /** Redis key. */
  readonly name: string
  /** Id of this process for this key, which no other member has. */
  readonly id: string
  readonly cap: Cap
  readonly shared: SharedKey
  readonly grown: () => void
}

/** The share of this process in the learned limit of one key. It is used for requests without I/O. */
export class ShareMember implements KeyShare {
  readonly name: string
  places: number = 0
  /** Whether a call is pending. */
  busy: boolean = false
  /** Time of the next report. */
  dueAt: number = Number.POSITIVE_INFINITY
  readonly #deps: ShareMemberDeps
  readonly #state: ShareMemberState
  #status: 'out' | 'joining' | 'in' | 'leaving' = 'out'
  #first: Deferred<true> | undefined
  #reports = 0
  /** Places that apply from `#endsAt` on. */
  #reserve = 0
  #endsAt = Number.POSITIVE_INFINITY
  #limit = 0
  #version = 0
  #processes = 1
  #newLimit = 0
  /** Places of the last report. */
  #held = 0
  /** Whether the last report gave the share back. */
  #leaves = false
  #sentAt = 0
  #earliestAt = Number.NEGATIVE_INFINITY
  #isLacking = false
  /** Whether there were requests since the last report, and before it. */
  #wasUsed = false
  #isUsed = false
  #usedAt = 0

  constructor(deps: ShareMemberDeps, state: ShareMemberState) {
    this.#deps = deps
    this.#state = state
    this.name = state.name
  }

  opening(): Promise<void> | undefined {
    this.#wasUsed = true
    if (this.#status === 'out' || this.#status === 'leaving') this.#join(this.#status === 'out')
    // also after a suspension, in which no timer has run
    if (this.#deps.clock.now() >= this.#endsAt) this.#expire()
    return this.#first && this.#deps.inTime(this.#first.promise).then(() => this.#opened())
  }

  lacked(): void {
    this.#isLacking = true
    this.#hurry(this.#sentAt + this.#fastMs)
  }

  leave(): void {
    if (this.#status === 'out') return
    this.#status = 'leaving'
    this.#end()
    this.#hurry(Number.NEGATIVE_INFINITY)
  }

  /** Whether the server has no record of this process. */
  get isOut(): boolean {
    return this.#status === 'out'
  }

  /** Reports as soon as possible. */
  reportSoon(): void {
    this.#earliestAt = Number.NEGATIVE_INFINITY
    this.#hurry(Number.NEGATIVE_INFINITY)
  }

  /** Whether a report is due, or may be sent with those of other keys. */
  mayReport(now: number): boolean {
    return !this.busy && (this.dueAt <= now || this.dueAt - now <= EARLY * (this.dueAt - this.#sentAt))
  }

  /** Returns the next report. */
  request(now: number, isClosing: boolean): KeyArgs {
    if (now >= this.#endsAt) this.#expire()
    const { id, cap, shared, name } = this.#state
    const { held, long, wanted, samples } = shared.report(this.#version, this.#processes)
    this.#isUsed = this.#wasUsed || held > 0
    if (this.#isUsed) this.#usedAt = now
    this.#wasUsed = false
    // not while Redis fails: it may be unknown whether the record is gone, so the reserve could not be used
    const isUnused = held === 0 && now - this.#usedAt >= this.#deps.leaseMs
    if (isUnused && this.#earliestAt === Number.NEGATIVE_INFINITY) this.#status = 'leaving'
    this.#leaves = isClosing || (this.#status === 'leaving' && held === 0)
    if (this.#leaves) this.#end()
    this.busy = true
    this.dueAt = Number.POSITIVE_INFINITY
    this.#held = held
    this.#sentAt = now
    this.#isLacking = false
    const places = [this.places, held, long, this.#status === 'leaving' ? 0 : Math.min(wanted, cap.limit)]
    const known = [this.#limit, this.#version, this.#newLimit, cap.limit, shared.initial]
    return { name, args: [id, ++this.#reports, ...places, this.#leaves ? 1 : 0, ...known, samples] }
  }

  /** Applies the reply to the last report. */
  answered(reply: ShareReply): void {
    this.busy = false
    if (this.#leaves) {
      this.#left()
      return
    }
    const { leaseMs } = this.#deps
    const before = this.places
    this.#earliestAt = Number.NEGATIVE_INFINITY
    this.#endsAt = this.#sentAt + leaseMs * (1 - GRACE)
    this.#reserve = reply.reserve
    this.#processes = reply.processes
    this.#version = reply.version
    this.#limit = reply.limit
    this.places = reply.share
    this.dueAt = this.#nextAt(reply, before)
    if (this.#status === 'joining') {
      this.#status = 'in'
      this.#first?.answer(() => true)
      this.#first = undefined
    }
    if (this.#learn(reply)) this.dueAt = Number.NEGATIVE_INFINITY
    if (this.places > before) this.#state.grown()
  }

  /** The call failed, or its outcome is unknown. `mayHurry`: whether the next one may follow at once. */
  failed(now: number, mayHurry: boolean): void {
    this.busy = false
    // if the goodbye is lost, the record ends with its lease: keys that no longer matter must not pile up in an outage
    if (this.#leaves) this.#left()
    this.dueAt = now + (mayHurry ? this.#fastMs : this.#slowMs)
    if (!mayHurry) this.#earliestAt = this.dueAt
  }

  /** Applies what holds when the backend is closed: this process decides alone, with the share that it has. */
  close(): void {
    this.#status = 'out'
    this.#endsAt = Number.POSITIVE_INFINITY
    this.#opened()
  }

  get #fastMs(): number {
    return Math.max(FAST_MS, FAST_MS_PER_PROCESS * this.#processes)
  }

  get #slowMs(): number {
    return Math.min(SLOW_MS, this.#deps.leaseMs / 4)
  }

  #join(isNew: boolean): void {
    this.#status = 'joining'
    this.#usedAt = this.#deps.clock.now()
    this.#first = new Deferred()
    this.#endsAt = Number.POSITIVE_INFINITY
    if (isNew) {
      this.#forget()
      this.#deps.joined(this)
    }
    this.#hurry(Number.NEGATIVE_INFINITY)
  }

  /** A process that knows nothing of the limit does not show that its record was lost. */
  #forget(): void {
    this.#limit = 0
    this.#version = 0
    this.#newLimit = 0
  }

  /** Nothing has been heard of the other processes yet: one place, and later the least that the limit may be. */
  #opened(): void {
    if (this.#first?.waits) {
      this.places = 1
      this.#reserve = this.#state.shared.least
      this.#endsAt = this.#deps.clock.now() + this.#deps.leaseMs
    }
    this.#first = undefined
  }

  #expire(): void {
    // a process that has never reached the server gets more, not less
    this.places = this.#version === 0 ? this.#reserve : Math.min(this.places, this.#reserve)
    this.#endsAt = Number.POSITIVE_INFINITY
  }

  #end(): void {
    this.places = 0
    this.#reserve = 0
  }

  #left(): void {
    this.#forget()
    if (this.#status === 'leaving') this.#status = 'out'
    else this.#hurry(Number.NEGATIVE_INFINITY)
  }

  /** Returns whether there is a new limit to report. */
  #learn({ limit, version, isSettled, reserved, leads, samples }: ShareReply): boolean {
    const learned = this.#state.shared.received({
      limit,
      version,
      isSettled,
      reserved,
      samples: leads ? samples : undefined,
    })
    this.#newLimit = learned ?? 0
    return this.#newLimit > 0
  }

  #nextAt({ isSettled, isMore, isWanting, leads }: ShareReply, before: number): number {
    // places are free for others when the server knows that they are not used
    if (this.places < before && this.#held <= this.places) return Number.NEGATIVE_INFINITY
    const isNeeded = isMore || !isSettled || this.#held > this.places || (leads && isWanting)
    if (isNeeded || this.#isLacking || this.#status === 'joining') return this.#sentAt + this.#fastMs
    return this.#sentAt + (this.#isUsed ? Math.min(USED_MS, this.#slowMs) : this.#slowMs)
  }

  #hurry(at: number): void {
    const dueAt = Math.max(at, this.#earliestAt)
    if (dueAt >= this.dueAt) return
    this.dueAt = dueAt
    this.#deps.hurried(this)
  }
}
