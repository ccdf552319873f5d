import { HealthCheck } from './health-check.ts'
import { HeldPressure } from './held-pressure.ts'
import { meterOf, type RuntimeMeters, utilizationSince } from './runtime-meters.ts'
import type { ShedderRules } from './shedder-options.ts'
import { positionIn } from './signal-range.ts'
import { UtilizationPressure } from './utilization-pressure.ts'

/** Name of the signal that causes a pressure. */
export type ShedSignal = 'eventLoopDelay' | 'eventLoopUtilization' | 'heapUsed' | 'rss' | 'health'

interface Signal {
  readonly name: ShedSignal
  readonly held: HeldPressure
  read(now: number): number
}

/** Milliseconds between two samples. */
const SAMPLE_MS = 100

/** The signals that are sampled: utilization of the event loop, memory and the health check. */
export class ProcessSignals {
  readonly #signals: Signal[] = []
  readonly #utilization: UtilizationPressure | undefined
  #nextAt = Number.NEGATIVE_INFINITY
  #highest: Signal | undefined

  /** Throws `SLUICE_BAD_OPTION` for a signal that the runtime does not have. */
  constructor(rules: ShedderRules, meters: RuntimeMeters) {
    const { eventLoopUtilization, heapUsed, rss, health, healthEveryMs } = rules
    const add = (name: ShedSignal, read: Signal['read']): void => {
      this.#signals.push({ name, held: new HeldPressure(), read })
    }
    if (eventLoopUtilization) {
      const share = new UtilizationPressure(eventLoopUtilization)
      const utilization = utilizationSince(meterOf(meters, 'loopTimes', 'eventLoopUtilization'))
      this.#utilization = share
      add('eventLoopUtilization', () => share.sample(utilization() ?? 0))
    }
    if (heapUsed) {
      const meter = meterOf(meters, 'heapUsed', 'heapUsed')
      add('heapUsed', () => positionIn(heapUsed, meter()))
    }
    if (rss) {
      const meter = meterOf(meters, 'rss', 'rss')
      add('rss', () => positionIn(rss, meter()))
    }
    if (health) {
      const check = new HealthCheck(health, healthEveryMs)
      add('health', (now) => check.read(now))
    }
  }

  get pressure(): number {
    return this.#highest?.held.value ?? 0
  }

  /** Signal with the highest pressure; undefined before the first sample. */
  get highest(): ShedSignal | undefined {
    return this.#highest?.name
  }

  count(rank: number): void {
    this.#utilization?.count(rank)
  }

  /** Forgets the load when there are no requests any longer. */
  rest(): void {
    this.#utilization?.rest()
  }

  /** Reads the signals if it is time. */
  sample(now: number): void {
    if (now < this.#nextAt) return
    this.#nextAt = now + SAMPLE_MS
    let highest: Signal | undefined
    for (const signal of this.#signals) {
      signal.held.record(signal.read(now), now)
      if (highest === undefined || signal.held.value > highest.held.value) highest = signal
    }
    this.#highest = highest
  }
}
