import type { Clock, LearnedLimits, WorkSample } from '@sluice/limiter-core'
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
  // in the order of their last samples
  readonly #limits = new Map<string, LearnedLimit>()

  constructor(options: LearnedLimitsOptions) {
    this.#options = options
  }

  limitOf(key: string): number {
    return this.#limits.get(key)?.current ?? this.#options.bounds.initial
  }

  sample(key: string, sample: WorkSample): void {
    const { bounds, createAlgorithm, clock, maxKeys } = this.#options
    const now = clock.now()
    let limit = this.#limits.get(key)
    if (!limit) {
      if (sample.outcome !== 'success') return
      limit = new LearnedLimit(createAlgorithm(), bounds, now)
      if (this.#limits.size >= maxKeys) this.#forgetOldest()
      this.#limits.set(key, limit)
    } else if (this.#limits.size > 1) {
      this.#limits.delete(key)
      this.#limits.set(key, limit)
    }
    limit.sample(sample, now)
  }

  #forgetOldest(): void {
    for (const key of this.#limits.keys()) {
      this.#limits.delete(key)
      return
    }
  }
}
