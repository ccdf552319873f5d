import type { KindOfWork } from './kind-of-work.ts'

/** Work that holds places. */
export interface Work {
  readonly startedAt: number
  readonly places: number
  /** What is known of work of its kind. */
  readonly kind: KindOfWork | undefined
  /** Places that were held for short work when this work began, its own included. */
  readonly inflight: number
  /** Whether it lasts much longer than other work. */
  isLong: boolean
}

/**
 * The work of one key, in the order in which it began. Work that lasts much longer than other work, such as an event
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

  begin(places: number, now: number, kind?: KindOfWork): Work {
    this.#shortPlaces += places
    const work = { startedAt: now, places, kind, inflight: this.#shortPlaces, isLong: false }
    this.#short.add(work)
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
   * Returns the places of long work: that which began before a time, and that which was long before. Work of a kind that
   * has become slower is not long: it waits for something.
   */
  longPlaces(startedBefore: number): number {
    for (const work of this.#short) {
      if (work.startedAt >= startedBefore) break
      if (!work.kind?.isSlower) this.#move(work, true)
    }
    return this.#longPlaces
  }

  /** Counts long work of a kind, which has just become slower, with other work again. */
  becameSlower(kind: KindOfWork): void {
    for (const work of this.#long) if (work.kind === kind) this.#move(work, false)
  }

  #move(work: Work, isLong: boolean): void {
    this.end(work)
    work.isLong = isLong
    if (isLong) this.#long.add(work)
    else this.#short.add(work)
    if (isLong) this.#longPlaces += work.places
    else this.#shortPlaces += work.places
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
}
