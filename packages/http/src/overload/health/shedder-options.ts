import type { Clock, Duration } from '@sluice/limiter-core'
import { badOption, clockOf, optionalFunction, optionsOf, parseTimerMs } from '@sluice/limiter-core/http'
import { steadyClock } from '../steady-clock.ts'
import type { CheckHealth } from './health-check.ts'
import { rangeOf, type SignalRange, type SignalThreshold } from './signal-range.ts'

/** Signals that can cause refusals. Pass a number where refusals start, or `{ from, to }`. */
export interface ShedSignals {
  /**
   * Milliseconds that callbacks wait for the event loop. Requests are refused while turns of the event loop are longer
   * and more requests arrive than the process can work on. For requests that take long, at least the time of four of
   * them. `to` is the delay at which everything is refused. `false` turns the signal off. Default: 20. Default `to`:
   * 8 × `from`.
   */
  readonly eventLoopDelayMs?: SignalThreshold | false | undefined
  /** Part of the time in which the event loop works, from 0 to 1. Default: not used. Default `to`: 1. */
  readonly eventLoopUtilization?: SignalThreshold | undefined
  /** Bytes of the JavaScript heap. Default: not used. Default `to`: 1.5 × `from`. */
  readonly heapUsed?: SignalThreshold | undefined
  /** Bytes of memory of the process. Default: not used. Default `to`: 1.5 × `from`. */
  readonly rss?: SignalThreshold | undefined
  /**
   * Returns how healthy the process is: a number from 0, which refuses everything, to 1, or a boolean. With false, and
   * while the check fails or takes longer than `healthEveryMs`, all requests except critical ones are refused.
   */
  readonly health?: CheckHealth | undefined
  /** Time between two health checks while there are requests: 1 ms to 2^31 - 1 ms. Default: 1,000. */
  readonly healthEveryMs?: Duration | undefined
}

/** Options of `createShedder`. */
export interface ShedderOptions extends ShedSignals {
  readonly clock?: Partial<Clock> | undefined
  /** Source of randomness: returns a number from 0 to 1, without 1. Default: `Math.random`. */
  readonly random?: (() => number) | undefined
}

export const SHED_SIGNALS: readonly (keyof ShedSignals)[] = [
  'eventLoopDelayMs',
  'eventLoopUtilization',
  'heapUsed',
  'rss',
  'health',
  'healthEveryMs',
]

/** Checked options. */
export interface ShedderRules {
  readonly eventLoopDelayMs: SignalRange | undefined
  readonly eventLoopUtilization: SignalRange | undefined
  readonly heapUsed: SignalRange | undefined
  readonly rss: SignalRange | undefined
  readonly health: CheckHealth | undefined
  readonly healthEveryMs: number
  readonly clock: Clock
  readonly random: () => number
}

const DEFAULT_DELAY_MS = 20
const DELAY_RANGE = 8
const MEMORY_RANGE = 1.5

/** Returns options with their defaults. Throws `SLUICE_BAD_OPTION` or `SLUICE_BAD_DURATION`. */
export function shedderRules(options: ShedderOptions): ShedderRules {
  const given = optionsOf('createShedder', options, [...SHED_SIGNALS, 'clock', 'random'])
  const { eventLoopDelayMs = DEFAULT_DELAY_MS, eventLoopUtilization, heapUsed, rss, health } = given
  const { healthEveryMs = 1_000, clock, random = Math.random } = given
  optionalFunction('health', health)
  optionalFunction('random', random)
  const others = [eventLoopUtilization, heapUsed, rss, health]
  if (eventLoopDelayMs === false && others.every((signal) => signal === undefined)) {
    throw badOption('eventLoopDelayMs', false, 'a delay, or another signal with it')
  }
  return {
    eventLoopDelayMs:
      eventLoopDelayMs === false
        ? undefined
        : rangeOf('eventLoopDelayMs', eventLoopDelayMs, (from) => from * DELAY_RANGE),
    eventLoopUtilization: optionalRange('eventLoopUtilization', eventLoopUtilization, () => 1, 1),
    heapUsed: optionalRange('heapUsed', heapUsed, (from) => from * MEMORY_RANGE),
    rss: optionalRange('rss', rss, (from) => from * MEMORY_RANGE),
    health,
    healthEveryMs: parseTimerMs(healthEveryMs, 'healthEveryMs'),
    clock: steadyClock(clockOf(clock)),
    random,
  }
}

function optionalRange(
  option: string,
  threshold: SignalThreshold | undefined,
  defaultTo: (from: number) => number,
  most?: number,
): SignalRange | undefined {
  return threshold === undefined ? undefined : rangeOf(option, threshold, defaultTo, most)
}
