import type { WorkClass } from './work-class.ts'

/** Work that holds places. */
export interface Work {
  readonly startedAt: number
  readonly places: number
  readonly workClass: WorkClass | undefined
  /** Work of its class that had ended when this work began. */
  readonly endedBefore: number
  /** Places that were held for short work when this work began, its own included. */
  readonly inflight: number
  /** The work that it is counted with. */
  group: RunningWork
  /** Whether it lasts much longer than other work. */
  isLong: boolean
}

/**
 * Work that shares a limit, in the order in which it began. Work that lasts much longer than other work, such as an event
 * stream, is counted apart: it shows no overload, and the limit is for the rest.
 */
export class RunningWork {
  readonly #short = new Set<Work>()
  readonly #long = new Set<Work>()
  #shortPlaces = 0
  #longPlaces = 0

  /** Places of all work. */
  get places(): number {
    return this.#shortPlaces + this.#longPlaces
  }

  begin(places: number, now: number, workClass: WorkClass | undefined): Work {
    const inflight = this.#shortPlaces + places
    const endedBefore = workClass?.ended ?? 0
    const work: Work = { startedAt: now, places, workClass, endedBefore, inflight, group: this, isLong: false }
    this.#add(work)
    return work
  }

  end(work: Work): void {
    if (this.#short.delete(work)) this.#shortPlaces -= work.places
    else if (this.#long.delete(work)) this.#longPlaces -= work.places
  }

  /** Ends work that began before a time: its permits have been revoked. */
  endBefore(startedAt: number): void {
    for (const works of [this.#long, this.#short]) {
      for (const work of works) {
        if (work.startedAt >= startedAt) break
        this.end(work)
      }
    }
  }

  /**
   * Returns the places of long work: that which began before a time, and that which was long before. `knownBefore`: this
   * time for work of classes that once were short. It may wait for something.
   */
  longPlaces(startedBefore: number, knownBefore: number): number {
    for (const work of this.#short) {
      if (work.startedAt >= startedBefore) break
      if (work.startedAt >= knownBefore && work.workClass?.isKnown) continue
      this.end(work)
      work.isLong = true
      this.#add(work)
    }
    return this.#longPlaces
  }

  /** Returns the places of other work that began before a time. */
  shortPlaces(startedBefore: number): number {
    let places = 0
    for (const work of this.#short) {
      if (work.startedAt >= startedBefore) break
      places += work.places
    }
    return places
  }

  /** Returns the short work of each class. */
  byClass(): Map<WorkClass, Work[]> {
    const classes = new Map<WorkClass, Work[]>()
    for (const work of this.#short) {
      if (!work.workClass) continue
      const works = classes.get(work.workClass)
      if (works) works.push(work)
      else classes.set(work.workClass, [work])
    }
    return classes
  }

  /** Counts the short work of a class with another group, or all of it if no class is given. */
  move(to: RunningWork, workClass?: WorkClass): void {
    const moved = workClass
      ? [...this.#short].filter((work) => work.workClass === workClass)
      : [...this.#long, ...this.#short]
    for (const work of moved) {
      this.end(work)
      work.group = to
      to.#add(work)
    }
  }

  #add(work: Work): void {
    if (work.isLong) {
      this.#long.add(work)
      this.#longPlaces += work.places
    } else {
      this.#short.add(work)
      this.#shortPlaces += work.places
    }
  }
}
