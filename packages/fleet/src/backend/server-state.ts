import type { Interruption } from '@sluice/limiter-core/backend'
import { ServerTime } from './server-time.ts'

type Listener = (event: Interruption) => void

/** What each reply of a server contains about the server. */
interface ServerReport {
  /** Time of the server in ms. */
  readonly now: number
  /** Time of the server before which counts may have been lost. */
  readonly lostBefore: number
}

/** What this process knows about the server: its clock, when it may have lost counts, and whether it replies. */
export class ServerState {
  readonly #serverTime: (() => number) | undefined
  readonly #time = new ServerTime()
  readonly #listeners = new Set<Listener>()
  #isLost = false
  /** Server time before which counts may have been lost; undefined before the first reply. */
  lostBefore: number | undefined

  /** `serverTime` replaces the clock of the server. */
  constructor(serverTime: (() => number) | undefined) {
    this.#serverTime = serverTime
  }

  get isSimulated(): boolean {
    return this.#serverTime !== undefined
  }

  /** Returns the server time at the process time `at`; undefined before the first reply. */
  at(at: number): number | undefined {
    return this.#serverTime?.() ?? this.#time.at(at)
  }

  replied({ now, lostBefore }: ServerReport, sentAt: number, receivedAt: number): void {
    this.#time.replied(now, sentAt, receivedAt)
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

  /** Whether counts that were reported `ageMs` ago, at the process time `now`, may have been lost. */
  mayHaveLost(ageMs: number, now: number): boolean {
    const serverNow = this.#time.at(now)
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
