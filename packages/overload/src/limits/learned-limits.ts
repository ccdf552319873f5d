import type { Clock, LearnedLimits, PermitOutcome } from '@sluice/limiter-core'
import { RecentMap } from '../recent-map.ts'
import { KindOfWork } from './kind-of-work.ts'
import { LearnedLimit, type LimitBounds } from './learned-limit.ts'
import type { LimitAlgorithm } from './limit-algorithm.ts'
import { RunningWork, type Work } from './running-work.ts'

interface LearnedLimitsOptions {
  readonly bounds: LimitBounds
  readonly createAlgorithm: () => LimitAlgorithm
  readonly clock: Clock
  readonly maxKeys: number
  /** Milliseconds after which work has ended in any case. Default: never. */
  readonly maxHoldMs?: number | undefined
}

/** Work is long if it lasts longer than this, and than this many mean durations. */
const [LONG_MS, LONG_WORK] = [1_000, 30]

/**
 * The limits of the keys of one cap. Keys that have completed no work need no memory, except for the work that runs.
 * Places of long work are added to the limit: if it used up the limit, no other work would complete, and the limit
 * could never change again.
 */
export class LearnedLimitsByKey implements LearnedLimits {
  readonly #options: LearnedLimitsOptions
  readonly #limits: RecentMap<LearnedLimit>
  readonly #kinds: RecentMap<KindOfWork>
  readonly #running = new Map<string, RunningWork>()

  constructor(options: LearnedLimitsOptions) {
    this.#options = options
    this.#limits = new RecentMap(options.maxKeys)
    this.#kinds = new RecentMap(options.maxKeys)
  }

  limitOf(key: string): number {
    const learned = this.#limits.peek(key)
    const { bounds, clock } = this.#options
    const limit = learned?.current ?? bounds.initial
    const running = this.#running.get(key)
    // as long as there is room, the time is not read
    if (!running || running.places < limit) return limit
    return Math.min(bounds.max, limit + this.#longPlaces(running, learned, clock.now()))
  }

  begin(key: string, places: number, kind?: string): (outcome: PermitOutcome) => void {
    const running = this.#running.get(key) ?? new RunningWork()
    this.#running.set(key, running)
    const now = this.#options.clock.now()
    this.#longPlaces(running, this.#limits.peek(key), now)
    const known = kind === undefined ? undefined : this.#kinds.use(JSON.stringify([key, kind]), () => new KindOfWork())
    const work = running.begin(places, now, known)
    return (outcome) => {
      running.end(work)
      if (running.places === 0 && this.#running.get(key) === running) this.#running.delete(key)
      this.#ended(key, work, outcome, running)
    }
  }

  #ended(key: string, work: Work, outcome: PermitOutcome, running: RunningWork): void {
    if (outcome !== 'success' && !this.#limits.peek(key)) return
    const { bounds, createAlgorithm, clock } = this.#options
    const now = clock.now()
    const { kind } = work
    if (outcome === 'success' && kind?.ended(now - work.startedAt)) running.becameSlower(kind)
    this.#limits.use(key, () => new LearnedLimit(createAlgorithm(), bounds, now)).add(work, outcome, now, running)
  }

  #longPlaces(running: RunningWork, learned: LearnedLimit | undefined, now: number): number {
    const { maxHoldMs } = this.#options
    if (maxHoldMs !== undefined) running.endBefore(now - maxHoldMs)
    return running.longPlaces(now - Math.max(LONG_MS, LONG_WORK * (learned?.meanMs ?? 0)))
  }
}
