import { isActive, type StoredControl } from './stored-control.ts'

/** Changes that hold at once. */
export const MOST_CONTROLS = 100

/** With those that ended lately, or before their time. */
const MOST_KNOWN = 500

/** Ended ones are told of for so long, so that a process whose clock is behind hears that they were undone. */
const KEPT_MS = 60_000

/**
 * The changes of all processes. Sets of several processes merge in any order and any number of times: each change is of
 * one id and never changes, but that it is undone once and for good.
 */
export class ControlSet {
  readonly #known = new Map<string, StoredControl>()

  get isEmpty(): boolean {
    return this.#known.size === 0
  }

  /** When the latest change was made; 0 where none is known. */
  get latestAt(): number {
    return this.all()[0]?.at ?? 0
  }

  /** Latest first. */
  all(): StoredControl[] {
    return [...this.#known.values()].sort((a, b) => b.at - a.at || (a.id < b.id ? -1 : 1))
  }

  /** Oldest first, so that a later one of the same policy has the last word. */
  active(at: number): StoredControl[] {
    return this.all()
      .filter((one) => isActive(one, at))
      .reverse()
  }

  find(id: string): StoredControl | undefined {
    return this.#known.get(id)
  }

  /** What is new: changes that were not known, and those that were not known to be undone. Beyond 500 none is taken. */
  merge(controls: readonly StoredControl[], at: number): StoredControl[] {
    return controls.filter((one) => {
      const known = this.#known.get(one.id)
      const isNew = known === undefined || (known.undoneAt === undefined && one.undoneAt !== undefined)
      if (!isNew || at > one.endsAt + KEPT_MS) return false
      if (known === undefined && this.#known.size >= MOST_KNOWN) return false
      // what it changes is what was known first, so that nobody rewrites it
      this.#known.set(one.id, known ? { ...known, undoneAt: one.undoneAt, undoneBy: one.undoneBy } : one)
      return true
    })
  }

  /** One that never held, and of which nobody has heard. */
  drop(id: string): void {
    this.#known.delete(id)
  }

  /** Lets go of those that ended a minute ago. */
  forget(at: number): void {
    for (const [id, { endsAt }] of this.#known) if (at > endsAt + KEPT_MS) this.#known.delete(id)
  }
}
