import { clockOf, systemClock } from '../clock.ts'
import type { Backend, Clock } from '../contracts.ts'
import { Observers } from '../observers.ts'
import { Breaker, type BreakerState } from './breaker.ts'
import { FailureLog } from './failure-log.ts'
import { Mirror } from './mirror.ts'
import { OwedCalls } from './owed-calls.ts'

/** What this process knows of a backend, whatever limiters count on it: whether it answers, and what it last said. */
export class Health {
  readonly breaker: Breaker
  readonly mirror: Mirror
  readonly log: FailureLog
  /** What it did not do while it did not answer. */
  readonly owed: OwedCalls = new OwedCalls()
  /** Told of the breaker. */
  readonly observers: Observers = new Observers()
  /** What is to be added to a reading of the backend's clock to get one of ours, as far as is known. */
  skewMs = 0
  readonly #backend: Backend
  readonly #clock: Clock
  #cause = ''
  #users = 0
  #stopListening: (() => void) | undefined

  constructor(backend: Backend, clock: Clock, deadlineMs: number) {
    this.#backend = backend
    this.#clock = clock
    this.mirror = new Mirror(clock, backend, this.owed)
    this.log = new FailureLog(backend.name, clock)
    this.breaker = new Breaker({ clock, deadlineMs, changed: (state) => this.#changed(state) })
  }

  /** Listens to interruptions while somebody counts on the backend. Returns a function that leaves. */
  join(): () => void {
    // nobody listened in between
    if (this.#users++ === 0) this.#listen()
    let joined = true
    return () => {
      if (joined && --this.#users === 0) this.#stopListening?.()
      joined = false
    }
  }

  /** A call that was made at `calledAt` failed, or was not answered in time. */
  failed(cause: string, error: unknown, calledAt: number): void {
    this.#cause = cause
    const now = this.#clock.now()
    // one that tells of no interruptions may have been away, and lost what it counted
    if (this.#backend.interrupted || cause === 'LATE') this.mirror.decidedHere(now)
    else this.mirror.outdated(now)
    this.breaker.failed(calledAt)
    this.log.failed(cause, error)
  }

  #listen(): void {
    this.mirror.outdated(this.#clock.now())
    this.#stopListening = this.#backend.interrupted?.((event) => {
      if (event === 'back') this.breaker.probeSoon()
      else this.mirror.outdated(this.#clock.now())
    })
  }

  #changed(state: BreakerState): void {
    if (state === 'open') this.mirror.outdated(this.#clock.now())
    if (state === 'closed') this.log.back()
    this.observers.event('breaker', { backend: this.#backend.name, state, cause: this.#cause })
  }
}

interface Registry {
  readonly healths: WeakMap<Backend, WeakMap<Clock, Health>>
  /** Stands for the clock of those who hand in none. */
  readonly clock: Clock
}

const KEY = Symbol.for('sluice.healths@1')

/** The one health of a backend in this process, by the clock of those who ask. Shared by every copy of the package. */
export function healthOf(backend: Backend, clock: Clock | undefined, deadlineMs: number): Health {
  const home = globalThis as { [KEY]?: Registry }
  home[KEY] ??= { healths: new WeakMap(), clock: systemClock }
  const { healths, clock: shared } = home[KEY]
  const mine = clock ?? shared
  const byClock = healths.get(backend) ?? new WeakMap<Clock, Health>()
  healths.set(backend, byClock)
  const health = byClock.get(mine) ?? new Health(backend, clockOf(mine), deadlineMs)
  byClock.set(mine, health)
  return health
}
