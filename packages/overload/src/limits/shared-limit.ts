import type { Clock, KeyShare, SharedKey, SharedState, ShareReport } from '@sluice/limiter-core'
import { FleetLearner, textOf } from './fleet-learner.ts'
import { KeyLimit } from './key-limit.ts'
import type { KeyWork } from './key-work.ts'
import type { LimitBounds } from './learned-limit.ts'
import type { LimitAlgorithm } from './limit-algorithm.ts'
import type { RunningWork } from './running-work.ts'
import { Samples } from './samples.ts'

/** Time in ms after which half of the places that were wanted still are, so that shares do not move all the time. */
const HALF_MS = 250

/** Time in ms, and in mean durations of work, in which all processes apply a limit unless one is cut off. */
const [SETTLES_MS, SETTLES_WORK] = [1_000, 4]

export interface SharedLimitOptions {
  readonly bounds: LimitBounds
  readonly createAlgorithm: () => LimitAlgorithm
  readonly clock: Clock
  /** Joins the processes that share the limit. */
  readonly join: (shared: SharedKey) => KeyShare
  /** Returns the work of the key that runs in this process, if there is any. */
  readonly work: () => KeyWork | undefined
}

/** The share of this process in a limit that is learned from the work of all processes. */
export class SharedLimit extends KeyLimit implements SharedKey {
  readonly initial: number
  readonly least: number
  readonly #share: KeyShare
  readonly #options: SharedLimitOptions
  #learner: FleetLearner | undefined
  #samples = new Samples()
  #version = 0
  #versionAt = Number.NEGATIVE_INFINITY
  /** When samples of the present version began; infinity if some processes still apply the one before. */
  #since = Number.POSITIVE_INFINITY
  #meanMs = 0
  /** Places of long work that were reported last. */
  #long = 0
  /** Most places held, and places that were lacking, since the last report. */
  #peak = 0
  #lacking = 0
  /** Places that were lacking since `#since`. */
  #lackingSince = 0
  #wanted = 0
  #reportedAt = Number.NEGATIVE_INFINITY

  constructor(options: SharedLimitOptions) {
    super()
    const { bounds, join } = options
    this.#options = options
    this.initial = bounds.initial
    this.least = bounds.min
    this.#share = join(this)
  }

  get most(): number {
    return this.#share.places
  }

  /** Places for work that is not long. */
  get current(): number {
    return Math.max(0, this.#share.places - this.#long)
  }

  get meanMs(): number {
    return this.#meanMs || this.#samples.meanMs
  }

  override opening(): Promise<void> | undefined {
    return this.#share.opening()
  }

  override began(places: number): void {
    if (places > this.#peak) this.#peak = places
  }

  override lacked(places: number): void {
    this.#lacking += places
    this.#lackingSince += places
    this.#share.lacked()
  }

  override leave(): void {
    this.#share.leave()
  }

  report(version: number, processes: number): ShareReport {
    const { clock, bounds } = this.#options
    const now = clock.now()
    const work = this.#options.work()
    const held = work?.places ?? 0
    this.#long = work?.extraPlaces(now) ?? 0
    const before = Math.floor(this.#wanted * 0.5 ** ((now - this.#reportedAt) / HALF_MS))
    this.#wanted = Math.min(bounds.max, Math.max(held, this.#peak, before) + this.#lacking)
    this.#reportedAt = now
    this.#peak = held
    this.#lacking = 0
    const samples = version === this.#version && this.#since < now ? this.#text(now, work, processes) : ''
    return { held, long: this.#long, wanted: this.#wanted, samples }
  }

  received(state: SharedState): number | undefined {
    const { createAlgorithm, bounds, clock } = this.#options
    if (state.version !== this.#version) {
      this.#version = state.version
      this.#versionAt = clock.now()
      this.#since = Number.POSITIVE_INFINITY
    }
    if (state.isSettled && this.#since === Number.POSITIVE_INFINITY) {
      this.#since = clock.now()
      this.#meanMs = this.#samples.meanMs || this.#meanMs
      this.#samples = new Samples()
      this.#lackingSince = 0
      this.longEnded = 0
    }
    if (state.samples) this.#learner ??= new FleetLearner(createAlgorithm(), bounds, state.limit)
    else this.#learner = undefined
    const settlesMs = Math.max(SETTLES_MS, SETTLES_WORK * this.meanMs)
    const isLate = !state.isSettled && clock.now() - this.#versionAt >= settlesMs
    return isLate ? this.#learner?.giveUp(state) : this.#learner?.next(state)
  }

  #text(now: number, work: KeyWork | undefined, processes: number): string {
    const outlasting = work?.shortPlaces(this.#since) ?? 0
    return textOf(this.#samples, { lengthMs: now - this.#since, outlasting, lacking: this.#lackingSince }, processes)
  }

  protected countAt(_now: number, startedAt: number): number | undefined {
    return startedAt >= this.#since ? this.#samples.count : undefined
  }

  protected sampled(heldMs: number, inflight: number, _now: number, _running: RunningWork): void {
    this.#samples.add(heldMs, inflight)
  }
}
