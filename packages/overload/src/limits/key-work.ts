import type { PermitOutcome } from '@sluice/limiter-core'
import type { KeyLimit } from './key-limit.ts'
import type { LearnedLimit } from './learned-limit.ts'
import { RunningWork, type Work } from './running-work.ts'
import type { WorkClass } from './work-class.ts'
import { YieldedPart } from './yielded-part.ts'

/** Work is long if it lasts longer than this, and than this many mean durations. */
const [LONG_MS, LONG_WORK] = [1_000, 30]
/** Like `LONG_MS`, for work of classes that once were short. */
const LONG_KNOWN_MS = 30_000
/** Time in ms between two looks at what is overdue. */
const LOOK_MS = 10
/** Time in ms after which a class of which nothing runs is no longer counted apart. */
const IDLE_MS = 5_000
/** Weight of the last delay in the mean. */
const WEIGHT = 0.1
/** The classes that are counted apart, as long as there are none. */
const NONE: ReadonlyMap<WorkClass, Apart> = new Map()

/** Work of a class that is counted apart. */
interface Apart {
  readonly workClass: WorkClass
  readonly running: RunningWork
  readonly limit: LearnedLimit
  /** Completed work of the class before it was counted apart. */
  readonly endedBefore: number
  /** What the class may use of its limit. */
  readonly part: YieldedPart
  /** Whether no other class is the cause of its delay. */
  readonly isCause: boolean
  /** When work of the class ended the last time. */
  endedAt: number
}

export interface KeyWorkOptions {
  /** Returns the largest limit of the key. */
  readonly max: () => number
  /** Returns the limit of the key before anything has been learned, or the learned one. */
  readonly limit: () => number
  /** Returns the learned limit of the key, if there is one. */
  readonly learned: () => KeyLimit | undefined
  /** Creates a limit for work that is counted apart. */
  readonly newLimit: (initial: number) => LearnedLimit
}

/**
 * The work of one key that runs. If a dependency of a class becomes slow, its work piles up and would take the places of
 * all other work: it is then counted apart, with a limit of its own, until it is as fast as before or none of it runs.
 */
export class KeyWork {
  readonly #options: KeyWorkOptions
  readonly #rest = new RunningWork()
  #apart = NONE
  /** Limits of classes that are, or were, counted apart. */
  #ownLimits: WeakMap<WorkClass, LearnedLimit> | undefined
  /** Mean time by which work of the rest took longer than such work once did. */
  #delayMs = 0
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(options: KeyWorkOptions) {
    this.#options = options
  }

  /** Places of all work. */
  get places(): number {
    return this.#rest.places + this.#apartPlaces()
  }

  /** Returns the places that are added to the limit: those of long work, and of classes that are counted apart. */
  extraPlaces(now: number): number {
    return this.#longPlaces(this.#rest, now) + this.#apartPlaces()
  }

  /** Returns the places of work that began before a time, without long work and classes that are counted apart. */
  shortPlaces(startedBefore: number): number {
    return this.#rest.shortPlaces(startedBefore)
  }

  /** Returns the work of a class that is counted apart. */
  apartOf(workClass: WorkClass | undefined): Apart | undefined {
    return workClass && this.#apart.get(workClass)
  }

  /** Whether a class is counted apart. */
  get hasApart(): boolean {
    return this.#apart.size > 0
  }

  /**
   * Returns the limit for a further request: the places that may be held for all work of the key, if those of its class
   * are within its own limit. As long as there is room, class and time are not read.
   */
  limitFor(classOf: () => WorkClass | undefined, now: () => number): number {
    const limit = this.#options.limit()
    if (!this.hasApart && this.#rest.places < limit) return limit
    const at = now()
    if (this.hasApart || this.#rest.places >= limit) this.#look(at)
    const max = this.#options.max()
    const workClass = this.hasApart ? classOf() : undefined
    const apart = this.apartOf(workClass)
    if (!workClass || !apart) return Math.min(max, limit + this.#longPlaces(this.#rest, at) + this.#apartPlaces())
    const long = this.#longPlaces(apart.running, at, workClass.meanMs)
    const others = this.#rest.places + this.#apartPlaces() - apart.running.places
    return Math.min(max, others + apart.part.of(apart.limit.current, at) + long)
  }

  begin(places: number, now: number, workClass: WorkClass | undefined): Work {
    const running = this.apartOf(workClass)?.running
    if (!running) this.#longPlaces(this.#rest, now)
    return (running ?? this.#rest).begin(places, now, workClass)
  }

  /** Ends work. Returns the limit that learns from it if it was counted apart. */
  end(work: Work, outcome: PermitOutcome, now: number): LearnedLimit | undefined {
    const { group, workClass, startedAt } = work
    group.end(work)
    const apart = this.apartOf(workClass)
    const isApart = apart?.running === group
    if (workClass && outcome === 'success') {
      const delayMs = workClass.addEnded(now - startedAt)
      if (!isApart) this.#delayMs += WEIGHT * (delayMs - this.#delayMs)
    }
    if (!isApart) return undefined
    apart.endedAt = now
    if (workClass?.hasRecovered(apart.endedBefore)) this.#join(workClass, group)
    return apart.limit
  }

  endBefore(startedAt: number): void {
    this.#rest.endBefore(startedAt)
    for (const { running } of this.#apart.values()) running.endBefore(startedAt)
  }

  /** Counts classes apart whose work is late while other work is not, and lets the slowest of them yield to others. */
  #look(now: number): void {
    if (now - this.#lookedAt < LOOK_MS && now >= this.#lookedAt) return
    this.#lookedAt = now
    this.#joinIdle(now)
    const classes = this.#rest.byClass()
    const slowest = this.#slowest()
    let hasVictims = areOthersLate(classes, undefined, now) || this.#hasVictims(slowest)
    for (const [workClass, works] of this.#late(classes, now)) {
      const isVictim = isFaster(workClass, slowest)
      if (isVictim && !slowest?.part.isLeast) hasVictims = true
      else this.#separate(workClass, works, !isVictim, now)
    }
    if (hasVictims) slowest?.part.othersLate(now)
  }

  /** Returns the classes of the rest whose work is late while other work is not. */
  #late(classes: ReadonlyMap<WorkClass, readonly Work[]>, now: number): [WorkClass, readonly Work[]][] {
    return [...classes].filter(([workClass, works]) => {
      if (this.#apart.has(workClass)) return false
      return workClass.isLate(works, now, this.#delayMs) && !areOthersLate(classes, workClass, now)
    })
  }

  #separate(workClass: WorkClass, works: readonly Work[], isCause: boolean, now: number): void {
    const places = works.reduce((sum, work) => sum + work.places, 0)
    this.#ownLimits ??= new WeakMap()
    const limit = this.#ownLimits.get(workClass) ?? this.#options.newLimit(Math.min(places, this.#leftForApart()))
    this.#ownLimits.set(workClass, limit)
    const running = new RunningWork()
    this.#rest.move(running, workClass)
    const { ended } = workClass
    const apart = { workClass, running, limit, endedBefore: ended, part: new YieldedPart(), isCause, endedAt: now }
    this.#apart = new Map([...this.#apart, [workClass, apart]])
  }

  /** Returns the class that is counted apart and takes longest in comparison with before. */
  #slowest(): Apart | undefined {
    let slowest: Apart | undefined
    for (const apart of this.#apart.values()) {
      if (!slowest || apart.workClass.delayMs > slowest.workClass.delayMs) slowest = apart
    }
    return slowest
  }

  /** Whether another class that is counted apart may be late because of the slowest one. */
  #hasVictims(slowest: Apart | undefined): boolean {
    for (const { workClass, isCause } of this.#apart.values()) {
      if (isCause && isFaster(workClass, slowest)) return true
    }
    return false
  }

  #joinIdle(now: number): void {
    for (const { workClass, running, endedAt } of this.#apart.values()) {
      if (running.places === 0 && (now - endedAt >= IDLE_MS || now < endedAt)) this.#join(workClass, running)
    }
  }

  #join(workClass: WorkClass, running: RunningWork): void {
    running.move(this.#rest)
    this.#apart = new Map([...this.#apart].filter(([other]) => other !== workClass))
  }

  /** All classes that are apart begin with at most the limit of the rest together. */
  #leftForApart(): number {
    let left = this.#options.limit()
    for (const { limit } of this.#apart.values()) left -= limit.current
    return Math.max(1, left)
  }

  #apartPlaces(): number {
    let places = 0
    for (const { running } of this.#apart.values()) places += running.places
    return places
  }

  #longPlaces(running: RunningWork, now: number, meanMs = this.#options.learned()?.meanMs ?? 0): number {
    const longMs = LONG_WORK * meanMs
    return running.longPlaces(now - Math.max(LONG_MS, longMs), now - Math.max(LONG_KNOWN_MS, longMs))
  }
}

/** Whether the delay of a class is so much shorter that the other one may cause it. */
function isFaster(workClass: WorkClass, slower: Apart | undefined): boolean {
  return slower !== undefined && workClass !== slower.workClass && 2 * workClass.delayMs < slower.workClass.delayMs
}

/** Whether half of the work of other classes is overdue: they wait for the same thing, or the process is late. */
function areOthersLate(
  classes: ReadonlyMap<WorkClass, readonly Work[]>,
  own: WorkClass | undefined,
  now: number,
): boolean {
  let running = 0
  let overdue = 0
  for (const [workClass, works] of classes) {
    if (workClass === own) continue
    running += works.length
    overdue += workClass.overdue(works, now).length
  }
  return running > 0 && overdue >= running / 2
}
