import type { Clock, Priority } from '@sluice/limiter-core'
import { rankOf } from '../priority/levels.ts'
import { EvenRefusals } from './even-refusals.ts'
import { Heartbeat } from './heartbeat.ts'
import { LoopPressure } from './loop-pressure.ts'
import { probabilityOf } from './priority-ramps.ts'
import { ProcessSignals, type ShedSignal } from './process-signals.ts'
import { type RuntimeMeters, runtimeMeters, utilizationSince } from './runtime-meters.ts'
import { type ShedderOptions, type ShedderRules, shedderRules } from './shedder-options.ts'

/** Refuses work while the process is overloaded, the least important first. */
export interface Shedder {
  /** Counts a piece of work and returns whether it may begin. Default priority: `normal`. */
  admits(priority?: Priority): boolean
  /** Returns the probability, from 0 to 1, with which work of a priority is refused now. */
  probability(priority?: Priority): number
  /** How far refusals go, from 0 for none to 1 for everything. */
  readonly pressure: number
  /** Signal that causes the pressure; undefined without pressure. */
  readonly signal: ShedSignal | undefined
  /** Stops all timers and refuses nothing from now on. */
  close(): void
}

/** A refusal. */
export interface Refusal {
  readonly pressure: number
  readonly probability: number
  readonly signal: ShedSignal
  /** Whole seconds after which the client may try again, at least 1. */
  readonly retryAfterSeconds: number
}

/** Seconds of `Retry-After`: from 1 to a number that depends on the pressure. */
const [LEAST_SPREAD, MOST_SPREAD] = [2, 5]

/**
 * Creates a shedder for work of any kind; `shed` of the adapters uses it for requests. Throws `SLUICE_BAD_OPTION` or
 * `SLUICE_BAD_DURATION`.
 */
export function createShedder(options: ShedderOptions = {}): Shedder {
  return new HealthShedder(shedderRules(options))
}

/** Decides by the health of the process. */
export class HealthShedder implements Shedder {
  readonly #clock: Clock
  readonly #random: () => number
  readonly #loop: LoopPressure | undefined
  readonly #signals: ProcessSignals
  readonly #heartbeat: Heartbeat
  readonly #refusals: EvenRefusals
  #isClosed = false

  constructor(rules: ShedderRules, meters: RuntimeMeters = runtimeMeters()) {
    const { clock, random, eventLoopDelayMs } = rules
    this.#clock = clock
    this.#random = random
    this.#refusals = new EvenRefusals(random)
    this.#signals = new ProcessSignals(rules, meters)
    this.#loop = eventLoopDelayMs && new LoopPressure(eventLoopDelayMs)
    const utilization = meters.loopTimes && utilizationSince(meters.loopTimes)
    this.#heartbeat = new Heartbeat(clock, {
      beat: (lateMs, elapsedMs, now) => {
        const part = utilization?.()
        this.#loop?.beat(lateMs, elapsedMs, part === undefined ? undefined : part * elapsedMs)
        this.#signals.sample(now)
      },
      rest: () => {
        this.#loop?.rest()
        this.#signals.rest()
      },
    })
  }

  get pressure(): number {
    return this.#pressureAt(this.#clock.now())
  }

  get signal(): ShedSignal | undefined {
    const now = this.#clock.now()
    return this.#pressureAt(now) > 0 ? this.#signalAt(now) : undefined
  }

  probability(priority?: Priority): number {
    return probabilityOf(this.pressure, rankOf(priority))
  }

  admits(priority?: Priority): boolean {
    return this.check(priority) === undefined
  }

  /** Counts work. Returns undefined if it may begin. With `isShadow`, refused work begins nevertheless. */
  check(priority: Priority | undefined, isShadow = false): Refusal | undefined {
    if (this.#isClosed) return undefined
    const now = this.#clock.now()
    if (this.#heartbeat.request(now)) this.#signals.sample(now)
    const rank = rankOf(priority)
    const pressure = this.#pressureAt(now)
    const probability = pressure > 0 ? probabilityOf(pressure, rank) : 0
    const isRefused = this.#refusals.refuses(rank, probability)
    this.#loop?.count(rank, isShadow || !isRefused)
    this.#signals.count(rank)
    if (!isRefused) return undefined
    return { pressure, probability, signal: this.#signalAt(now), retryAfterSeconds: this.#spread(pressure) }
  }

  close(): void {
    this.#isClosed = true
    this.#heartbeat.close()
  }

  #pressureAt(now: number): number {
    if (this.#isClosed) return 0
    return Math.max(this.#loopPressure(now), this.#signals.pressure)
  }

  #loopPressure(now: number): number {
    return this.#loop?.at(this.#heartbeat.overdueMs(now)) ?? 0
  }

  #signalAt(now: number): ShedSignal {
    const { highest, pressure } = this.#signals
    return highest && pressure >= this.#loopPressure(now) ? highest : 'eventLoopDelay'
  }

  /** Clients that are refused at the same time must not return at the same time. */
  #spread(pressure: number): number {
    const most = Math.round(LEAST_SPREAD + (MOST_SPREAD - LEAST_SPREAD) * pressure)
    return 1 + Math.floor(this.#random() * most)
  }
}
