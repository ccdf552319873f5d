import { concernsOneKey } from '../backend/backend-failure.ts'
import { checkedAnswer } from '../backend/checked-answer.ts'
import { plainCharge } from '../backend/plain-charge.ts'
import type { Answer, Backend, Clock } from '../contracts.ts'
import { hasDenial } from '../decision/verdict.ts'
import { Observers } from '../observers/observers.ts'
import { processWide } from '../process/process-wide.ts'
import { clockOf, systemClock } from '../time/clock.ts'
import type { FailoverCharge } from './failover-counter.ts'
import type { BreakerState } from './health/breaker.ts'
import { Health } from './health/health.ts'
import { Mirror } from './mirror.ts'
import { OwedCalls } from './owed-calls.ts'

/** The health of a backend in this process, shared by all limiters on it: whether it replies, and its last counts. */
export class BackendHealth extends Health {
  readonly mirror: Mirror
  /** Resets and adjustments that the backend has not applied yet. */
  readonly owed: OwedCalls = new OwedCalls()
  /** Estimated difference between the process clock and the backend's clock, in milliseconds. */
  skewMs = 0
  readonly #backend: Backend
  readonly #clock: Clock
  #users = 0
  #stopListening: (() => void) | undefined

  constructor(backend: Backend, clock: Clock, deadlineMs: number) {
    const changed = (state: BreakerState): void => {
      if (state === 'open') this.mirror.markOutdated(clock.now())
    }
    super({ name: backend.name, clock, deadlineMs, observers: new Observers(), changed })
    this.#backend = backend
    this.#clock = clock
    this.mirror = new Mirror(clock, backend, this.owed)
  }

  /** Subscribes to interruptions while a limiter counts on the backend. Returns a function that unsubscribes. */
  join(): () => void {
    // marks all counts as outdated, because interruptions were not noticed until now
    if (this.#users++ === 0) this.#listen()
    let joined = true
    return () => {
      if (joined && --this.#users === 0) this.#stopListening?.()
      joined = false
    }
  }

  override failed(cause: string, error: unknown, calledAt?: number): void {
    if (concernsOneKey(error)) {
      this.breaker.succeeded()
      this.log.failed(cause, error)
      return
    }
    const now = this.#clock.now()
    // a backend that does not report interruptions may have been down and lost its counts
    if (this.#backend.interrupted || cause === 'LATE') this.mirror.markDecidedLocally(now)
    else this.mirror.markOutdated(now)
    super.failed(cause, error, calledAt)
  }

  /**
   * Validates an answer of the backend and stores its counts in the mirror. `askedAt`: time of the call; if undefined,
   * nothing is stored. `takes`: whether the call takes its costs unless it is denied. Throws if the answer is invalid.
   */
  record(
    charges: readonly FailoverCharge[],
    answer: Answer,
    now: number,
    requestedAt: number | undefined,
    takes = true,
  ): Answer {
    const checked = checkedAnswer(answer, charges)
    const { verdicts, takenAt } = checked
    if (requestedAt !== undefined && verdicts.length === charges.length) {
      const isTaken = takes && !hasDenial(verdicts)
      for (let index = 0; index < charges.length; index++) {
        const moved = isTaken && verdicts[index].allowed ? plainCharge(charges[index]).cost : 0
        this.mirror.record(charges[index], verdicts[index], now, requestedAt, moved)
      }
    }
    this.skewMs = now - takenAt
    return checked
  }

  #listen(): void {
    this.mirror.markOutdated(this.#clock.now())
    this.#stopListening = this.#backend.interrupted?.((event) => {
      if (event === 'back') this.breaker.probeSoon()
      else this.mirror.markOutdated(this.#clock.now())
    })
  }
}

interface Registry {
  readonly healths: WeakMap<Backend, WeakMap<Clock, BackendHealth>>
  /** Used as the map key if no clock is passed. */
  readonly clock: Clock
}

const KEY = Symbol.for('sluice.healths@1')

/** Returns the health of a backend in this process, one per clock. */
export function healthOf(backend: Backend, clock: Clock | undefined, deadlineMs: number): BackendHealth {
  const { healths, clock: shared } = processWide<Registry>(KEY, () => ({ healths: new WeakMap(), clock: systemClock }))
  const mine = clock ?? shared
  const byClock = healths.get(backend) ?? new WeakMap<Clock, BackendHealth>()
  healths.set(backend, byClock)
  const health = byClock.get(mine) ?? new BackendHealth(backend, clockOf(mine), deadlineMs)
  byClock.set(mine, health)
  return health
}
