import type { Clock, LearnedLimits, WorkSample } from '@sluice/limiter-core'
import { RecentMap } from '../recent-map.ts'
import { LearnedLimit, type LimitBounds } from './learned-limit.ts'
import type { LimitAlgorithm } from './limit-algorithm.ts'

interface LearnedLimitsOptions {
  readonly bounds: LimitBounds
  readonly createAlgorithm: () => LimitAlgorithm
  readonly clock: Clock
  readonly maxKeys: number
}

/** The limits of the keys of one cap. Keys that have completed no work need no memory. */
export class LearnedLimitsByKey implements LearnedLimits {
  readonly #options: LearnedLimitsOptions
  readonly #limits: RecentMap<LearnedLimit>

  constructor(options: LearnedLimitsOptions) {
    this.#options = options
    this.#limits = new RecentMap(options.maxKeys)
  }

  limitOf(key: string): number {
    return this.#limits.peek(key)?.current ?? this.#options.bounds.initial
  }

  sample(key: string, sample: WorkSample): void {
    if (sample.outcome !== 'success' && !this.#limits.peek(key)) return
    const { bounds, createAlgorithm, clock } = this.#options
    const now = clock.now()
    this.#limits.use(key, () => new LearnedLimit(createAlgorithm(), bounds, now)).sample(sample, now)
  }
}
