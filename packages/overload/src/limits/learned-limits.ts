import type { AcquireOptions, Clock, KeyShare, LearnedLimits, PermitOutcome, SharedKey } from '@sluice/limiter-core'
import { RecentMap } from '../recent-map.ts'
import type { KeyLimit } from './key-limit.ts'
import { KeyWork } from './key-work.ts'
import { LearnedLimit, type LimitBounds } from './learned-limit.ts'
import type { LimitAlgorithm } from './limit-algorithm.ts'
import { SharedLimit } from './shared-limit.ts'
import { WorkClass } from './work-class.ts'

export interface LearnedLimitsOptions {
  readonly bounds: LimitBounds
  readonly createAlgorithm: () => LimitAlgorithm
  readonly clock: Clock
  readonly maxKeys: number
  /** Milliseconds after which work has ended in any case. Default: never. */
  readonly maxHoldMs?: number | undefined
  /** Joins the processes that share the limit of a key. Default: this process learns from its own work. */
  readonly share?: ((key: string, shared: SharedKey) => KeyShare) | undefined
}

/**
 * The limits of the keys of one cap. Keys that have completed no work need no memory, except for the work that runs.
 * Places of long work are added to the limit: if it used up the limit, no other work would complete, and the limit
 * could never change again.
 */
export class LearnedLimitsByKey implements LearnedLimits {
  readonly #options: LearnedLimitsOptions
  readonly #limits: RecentMap<KeyLimit>
  readonly #classes: RecentMap<WorkClass>
  /** The classes of the whole process, whose key is empty, so that no names are put together for its requests. */
  readonly #wholeClasses: RecentMap<WorkClass>
  readonly #running = new Map<string, KeyWork>()
  /** Keys of which nothing runs, and whose late classes stay apart for a moment. */
  readonly #resting: RecentMap<KeyWork>

  constructor(options: LearnedLimitsOptions) {
    this.#options = options
    this.#limits = new RecentMap(options.maxKeys, (limit) => limit.leave())
    this.#classes = new RecentMap(options.maxKeys)
    this.#wholeClasses = new RecentMap(options.maxKeys)
    this.#resting = new RecentMap(options.maxKeys)
  }

  get isShared(): boolean {
    return this.#options.share !== undefined
  }

  opening(key: string): Promise<void> | undefined {
    return this.isShared ? this.#limits.use(key, () => this.#newLimit(key)).opening() : undefined
  }

  lacked(key: string, places: number): void {
    this.#limits.peek(key)?.lacked(places)
  }

  close(): void {
    for (const [, limit] of this.#limits) limit.leave()
  }

  limitOf(key: string, request?: AcquireOptions): number {
    const running = this.#running.get(key)
    if (!running) return this.#limitOf(key)
    return running.limitFor(
      () => this.#peekClass(key, request),
      () => this.#now(running),
    )
  }

  usualMsOf(key: string): number {
    return this.#limits.peek(key)?.usualMs ?? 0
  }

  isApart(key: string, request: AcquireOptions | undefined): boolean {
    const running = this.#running.get(key)
    return running?.hasApart === true && running.apartOf(this.#peekClass(key, request)) !== undefined
  }

  begin(key: string, request: AcquireOptions = {}): (outcome: PermitOutcome) => void {
    const running = this.#running.get(key) ?? this.#resting.peek(key) ?? this.#newWork(key)
    this.#running.set(key, running)
    const id = idOf(key, request)
    const known = id === undefined ? undefined : this.#classesOf(key).use(id, () => new WorkClass())
    const work = running.begin(request.weight ?? 1, this.#now(running), known)
    if (this.isShared) this.#limits.peek(key)?.began(running.places)
    return (outcome) => {
      const now = this.#options.clock.now()
      const { group } = work
      const own = running.end(work, outcome, now)
      // the work of the whole process needs little memory
      if (key !== '' && running.places === 0 && this.#running.get(key) === running) {
        this.#running.delete(key)
        if (running.hasApart) this.#resting.use(key, () => running)
      }
      const learned = own ?? (outcome === 'success' ? this.#learned(key) : this.#limits.peek(key))
      learned?.add(work, outcome, now, group)
    }
  }

  #newWork(key: string): KeyWork {
    const { bounds, createAlgorithm, clock } = this.#options
    return new KeyWork({
      max: () => this.#limits.peek(key)?.most ?? bounds.max,
      limit: () => this.#limitOf(key),
      learned: () => this.#limits.peek(key),
      newLimit: (initial) => {
        const own = { min: Math.min(bounds.min, initial), max: bounds.max, initial }
        return new LearnedLimit(createAlgorithm(), own, clock.now())
      },
    })
  }

  /** A key whose limit is shared has none before its first request. */
  #limitOf(key: string): number {
    return this.#limits.peek(key)?.current ?? (this.isShared ? 0 : this.#options.bounds.initial)
  }

  /** Returns the limit that learns from work of a key. */
  #learned(key: string): KeyLimit | undefined {
    return this.isShared ? this.#limits.peek(key) : this.#limits.use(key, () => this.#newLimit(key))
  }

  #newLimit(key: string): KeyLimit {
    const { bounds, createAlgorithm, clock, share } = this.#options
    if (!share) return new LearnedLimit(createAlgorithm(), bounds, clock.now())
    const work = (): KeyWork | undefined => this.#running.get(key)
    return new SharedLimit({ bounds, createAlgorithm, clock, work, join: (shared) => share(key, shared) })
  }

  /** Reads the time, and ends the work whose permits have been revoked. */
  #now(running: KeyWork): number {
    const { clock, maxHoldMs } = this.#options
    const now = clock.now()
    if (maxHoldMs !== undefined) running.endBefore(now - maxHoldMs)
    return now
  }

  #classesOf(key: string): RecentMap<WorkClass> {
    return key === '' ? this.#wholeClasses : this.#classes
  }

  /** Returns the class of a request. Important requests of a late class may use the places of all. */
  #peekClass(key: string, request: AcquireOptions | undefined): WorkClass | undefined {
    const isImportant = request?.priority === 'critical' || request?.priority === 'high'
    const id = isImportant ? undefined : idOf(key, request)
    return id === undefined ? undefined : this.#classesOf(key).peek(id)
  }
}

/** Returns the id of the class of a request; undefined if it has none. */
function idOf(key: string, request: AcquireOptions | undefined): string | undefined {
  const workClass = request?.workClass ?? request?.client ?? request?.priority
  return workClass === undefined || key === '' ? workClass : `${key.length} ${key}${workClass}`
}
