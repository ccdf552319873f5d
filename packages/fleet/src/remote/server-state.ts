import type { Clock, Interruption } from '@sluice/limiter-core/backend'
import { ServerTime } from './server-time.ts'

type Listener = (event: Interruption) => void

/** What each reply of a server contains about the server. */
interface ServerReport {
  /** Time of the server in ms. */
  readonly now: number
  /** Time of the server before which counts may have been lost. */
  readonly lostBefore: number
}

/** Times of a call, in server time; null for none. */
interface CallTimes {
  readonly deadline: number | null
  /** Time that replaces the time of the server. */
  readonly given: number | null
}

/** What this process knows about the server: its clock, when it may have lost counts, and whether it replies. */
export class ServerState {
  readonly #clock: Clock
  readonly #serverTime: (() => number) | undefined
  readonly #time = new ServerTime()
  readonly #listeners = new Set<Listener>()
  #isLost = false
  /** Server time before which counts may have been lost; undefined before the first reply. */
  lostBefore: number | undefined

  /** `serverTime` replaces the clock of the server. */
  constructor(clock: Clock, serverTime: (() => number) | undefined) {
    this.#clock = clock
    this.#serverTime = serverTime
  }

  get isSimulated(): boolean {
    return this.#serverTime !== undefined
  }

  /** Whether the time of the server is known. */
  get isKnown(): boolean {
    return this.isSimulated || this.#time.learnedAt > Number.NEGATIVE_INFINITY
  }

  /**
   * Returns the server time at the process time `at`; it is never too late. Before the first reply, the wall clocks are
   * assumed to agree, as they do within the network of one provider; a wrong assumption ends with the first reply.
   */
  at(at: number): number {
    const now = this.#clock.now()
    if (this.#serverTime) return this.#serverTime() + at - now
    return this.#time.at(at) ?? this.#clock.wall() + at - now
  }

  /** Returns the times of a call with a deadline, a process time or Infinity. */
  timesOf(deadlineAt: number): CallTimes {
    if (this.#serverTime) return { deadline: null, given: this.#serverTime() }
    return { deadline: deadlineAt === Number.POSITIVE_INFINITY ? null : this.at(deadlineAt), given: null }
  }

  /** Records a reply to a call that was sent at a process time. */
  replied({ now, lostBefore }: ServerReport, sentAt: number): void {
    this.#time.replied(now, sentAt, this.#clock.now())
    const before = this.lostBefore
    this.lostBefore = lostBefore
    if (before !== undefined && before !== lostBefore) this.#report('lost')
    this.answered()
  }

  /** Records a reply without the time of the server. */
  answered(): void {
    if (this.#isLost) this.#report('back')
  }

  failed(): void {
    this.#report('lost')
  }

  /** Whether counts that were reported `ageMs` ago may have been lost. */
  mayHaveLost(ageMs: number): boolean {
    const serverNow = this.#time.at(this.#clock.now())
    if (this.#isLost || serverNow === undefined || this.lostBefore === undefined) return true
    return serverNow - ageMs <= this.lostBefore
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): void {
    this.#listeners.clear()
  }

  #report(event: Interruption): void {
    const isLost = event === 'lost'
    if (isLost === this.#isLost) return
    this.#isLost = isLost
    for (const listener of this.#listeners) listener(event)
  }
}
