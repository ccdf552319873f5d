import type { AdaptiveLimit, Clock, Duration } from '@sluice/limiter-core'
import {
  badOption,
  checkedUnits,
  oneOf,
  optionsOf,
  parseDuration,
  parseMs,
  SluiceError,
} from '@sluice/limiter-core/backend'
import { AimdLimit } from './aimd-limit.ts'
import { GradientLimit } from './gradient-limit.ts'
import type { LimitBounds } from './learned-limit.ts'
import { LearnedLimitsByKey, type LearnedLimitsOptions } from './learned-limits.ts'
import type { LimitAlgorithm, LimitAlgorithmName } from './limit-algorithm.ts'
import { TargetLimit } from './target-limit.ts'
import { ThroughputLimit } from './throughput-limit.ts'
import { VegasLimit } from './vegas-limit.ts'

/** A quantile of the durations of work, and the longest time that it may be: exactly one of them. */
export interface LatencyTarget {
  readonly p50?: Duration | undefined
  readonly p90?: Duration | undefined
  readonly p95?: Duration | undefined
  readonly p99?: Duration | undefined
}

/** Options of `adaptive`. */
export interface AdaptiveOptions {
  /** Smallest limit, an integer of at least 1. Default: 5. */
  readonly min?: number | undefined
  /** Largest limit, an integer of at least `min`. Default: 500. */
  readonly max?: number | undefined
  /** Limit before anything has been learned, from `min` to `max`. Default: 20, or the closest value that fits. */
  readonly initial?: number | undefined
  /**
   * How the limit is found. `throughput` looks for the in-flight count above which work only waits. `gradient` and
   * `vegas` compare durations with their past. `aimd` needs `timeout`. Default: `throughput`.
   */
  readonly algorithm?: LimitAlgorithmName | undefined
  /** Mean duration of work above which `aimd` lowers the limit. Required for `aimd`, and only valid there. */
  readonly timeout?: Duration | undefined
  /**
   * Latency objective, such as `{ p95: '250ms' }`: the limit is as large as this quantile allows, instead of following
   * a measured baseline. Requests that are admitted count, with the time that they wait behind the cap, not in its
   * queue. Not valid with `algorithm`. Default: none.
   */
  readonly target?: LatencyTarget | undefined
  /**
   * Number of keys whose limits are remembered, an integer of at least 1; others have `initial`. The key that was used
   * the longest time ago is forgotten first. Default: 1,000.
   */
  readonly maxKeys?: number | undefined
}

const OPTIONS = ['min', 'max', 'initial', 'algorithm', 'timeout', 'target', 'maxKeys'] as const
const QUANTILES = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99 } as const
const DEFAULTS = { min: 5, max: 500, initial: 20, maxKeys: 1_000 }
const ALGORITHMS: readonly LimitAlgorithmName[] = ['throughput', 'gradient', 'vegas', 'aimd']

/**
 * Returns a limit of a cap that follows the service: as many requests at the same time as it can work on, and a few
 * that wait. One object can be used for several caps, each of which learns its own limit. Throws `SLUICE_BAD_LIMIT`,
 * `SLUICE_BAD_DURATION` or `SLUICE_BAD_OPTION`.
 */
export function adaptive(options: AdaptiveOptions = {}): AdaptiveLimit {
  const { min, max, initial, maxKeys, ...how } = optionsOf('adaptive', options, OPTIONS)
  const least = checkedUnits(min ?? Math.min(DEFAULTS.min, max ?? DEFAULTS.min), 'adaptive: min')
  const most = checkedUnits(max ?? Math.max(DEFAULTS.max, least), 'adaptive: max')
  if (most < least) throw badLimit(`max: expected at least ${least} (min), received ${most}`)
  const first = checkedUnits(initial ?? Math.max(least, Math.min(most, DEFAULTS.initial)), 'adaptive: initial')
  if (first < least || first > most) throw badLimit(`initial: expected ${least} to ${most}, received ${first}`)
  const objective = how.target === undefined ? undefined : objectiveOf(how.target, how.algorithm)
  const createAlgorithm = algorithmOf(how, objective)
  const keys = checkedUnits(maxKeys ?? DEFAULTS.maxKeys, 'adaptive: maxKeys')
  return new Adaptive({ min: least, max: most, initial: first }, createAlgorithm, keys, objective)
}

class Adaptive implements AdaptiveLimit, LimitBounds {
  readonly min: number
  readonly max: number
  readonly initial: number
  readonly objective: AdaptiveLimit['objective']
  readonly #createAlgorithm: () => LimitAlgorithm
  readonly #maxKeys: number

  constructor(
    { min, max, initial }: LimitBounds,
    createAlgorithm: () => LimitAlgorithm,
    maxKeys: number,
    objective: AdaptiveLimit['objective'],
  ) {
    this.objective = objective
    this.min = min
    this.max = max
    this.initial = initial
    this.#createAlgorithm = createAlgorithm
    this.#maxKeys = maxKeys
  }

  open(clock: Clock, maxHoldMs?: number, share?: LearnedLimitsOptions['share']): LearnedLimitsByKey {
    return new LearnedLimitsByKey({
      bounds: this,
      createAlgorithm: this.#createAlgorithm,
      clock,
      maxKeys: this.#maxKeys,
      maxHoldMs,
      share,
    })
  }
}

/** Returns a function that creates the algorithm that options name. */
function algorithmOf(
  { algorithm = 'throughput', timeout }: AdaptiveOptions,
  objective: AdaptiveLimit['objective'],
): () => LimitAlgorithm {
  oneOf('algorithm', algorithm, ALGORITHMS)
  if ((timeout !== undefined) !== (algorithm === 'aimd')) {
    const expected = algorithm === 'aimd' ? 'the mean duration of work above which the limit falls' : 'only with aimd'
    throw new SluiceError('SLUICE_BAD_OPTION', `adaptive: timeout: expected ${expected}, received ${String(timeout)}`)
  }
  if (objective) return () => new TargetLimit(...objective)
  if (algorithm === 'gradient') return () => new GradientLimit()
  if (algorithm === 'vegas') return () => new VegasLimit()
  if (timeout === undefined) return () => new ThroughputLimit()
  const timeoutMs = parseMs(timeout, 'adaptive: timeout')
  return () => new AimdLimit(timeoutMs)
}

function objectiveOf(
  target: LatencyTarget,
  algorithm: LimitAlgorithmName = 'throughput',
): readonly [quantile: number, ms: number] {
  oneOf('algorithm', algorithm, ALGORITHMS)
  if (algorithm !== 'throughput') throw badOption('adaptive: algorithm', algorithm, 'none with target')
  const times = Object.entries(optionsOf('adaptive: target', target, keysOf(QUANTILES)))
  const [named, ...others] = times.filter(([, time]) => time !== undefined)
  if (!named || others.length > 0) throw badOption('adaptive: target', target, "one quantile, such as { p95: '250ms' }")
  const [name, time] = named as [keyof typeof QUANTILES, Duration]
  return [QUANTILES[name], parseDuration(time, `adaptive: target.${name}`)]
}

function keysOf<K extends string>(object: Readonly<Record<K, unknown>>): K[] {
  return Object.keys(object) as K[]
}

function badLimit(message: string): SluiceError {
  return new SluiceError('SLUICE_BAD_LIMIT', `adaptive: ${message}`)
}
