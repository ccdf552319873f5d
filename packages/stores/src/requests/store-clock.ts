import type { ServerState } from '@sluice/fleet/backend'
import type { Clock } from '@sluice/limiter-core/backend'
import type { CheckedStore } from './checked-store.ts'

/** Time in ms for which an estimate of the store's clock is used without asking again. */
const ASK_MS = 5_000
/** Time in ms after which the store is asked again if it has never answered. */
const FIRST_ASK_MS = 1_000

/** The time of the store: its clock, or else the wall clock of the process. */
export class StoreClock {
  readonly #store: CheckedStore
  readonly #server: ServerState
  readonly #clock: Clock
  #askedAt = Number.NEGATIVE_INFINITY
  #first: Promise<void> | undefined

  constructor(store: CheckedStore, server: ServerState, clock: Clock) {
    this.#store = store
    this.#server = server
    this.#clock = clock
  }

  /** Resolves when the time is known. Asks the store if the last answer is old, and waits only for the first answer. */
  async ready(): Promise<void> {
    if (!this.#isAsked) return
    const askedAgoMs = this.#clock.now() - this.#askedAt
    if (!this.#server.isKnown) {
      // a call that has hung must not stop the calls after it
      if (!this.#first || askedAgoMs >= FIRST_ASK_MS) this.#first = this.#askFirst()
      await this.#first
    } else if (askedAgoMs >= ASK_MS) void this.#ask().catch(() => {})
  }

  /** Returns the time of the store at a process time. Must be called after `ready`. */
  at(processAt: number): number {
    if (this.#store.hasClock || this.#server.isSimulated) return this.#server.at(processAt)
    return this.#clock.wall() + processAt - this.#clock.now()
  }

  /** Records that the store has answered. */
  answered(): void {
    if (this.#isAsked) this.#server.answered()
    else this.#server.replied({ now: this.#clock.wall(), lostBefore: 0 }, this.#clock.now())
  }

  get #isAsked(): boolean {
    return this.#store.hasClock && !this.#server.isSimulated
  }

  async #askFirst(): Promise<void> {
    try {
      await this.#ask()
    } finally {
      this.#first = undefined
    }
  }

  async #ask(): Promise<void> {
    const sentAt = this.#clock.now()
    this.#askedAt = sentAt
    const now = await this.#store.now()
    this.#server.replied({ now, lostBefore: 0 }, sentAt)
  }
}
