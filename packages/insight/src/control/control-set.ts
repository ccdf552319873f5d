import { isActive, type StoredControl } from './stored-control.ts'

/** Maximum number of active changes. */
export const MAX_CONTROLS = 100

/** Maximum number of active changes up to which changes of other processes are accepted. */
const MAX_RECEIVED = 2 * MAX_CONTROLS
/** Maximum number of stored changes, including recently expired and undone ones. */
const MAX_KNOWN = 500

/**
 * Time for which expired changes are still sent, so that a process whose clock is behind learns that they were undone.
 */
const KEPT_MS = 60_000

/**
 * Changes of all processes. Merging is commutative and idempotent: a change is identified by its id and is immutable,
 * except that it can be undone once.
 */
export class ControlSet {
  readonly #known = new Map<string, StoredControl>()

  get isEmpty(): boolean {
    return this.#known.size === 0
  }

  /** Time of the latest change; 0 if there is none. */
  get latestAt(): number {
    return this.all()[0]?.at ?? 0
  }

  /** All stored changes, latest first. */
  all(): StoredControl[] {
    return [...this.#known.values()].sort((a, b) => b.at - a.at || (a.id < b.id ? -1 : 1))
  }

  /** Active changes, oldest first: a later change of the same policy overrides an earlier one. */
  active(at: number): StoredControl[] {
    return this.all()
      .filter((one) => isActive(one, at))
      .reverse()
  }

  find(id: string): StoredControl | undefined {
    return this.#known.get(id)
  }

  /**
   * Merges changes and returns the new ones: changes that were unknown, or not known to be undone. Unknown changes are
   * ignored while 200 are active. If 500 are stored, a change that is active takes the place of one that is not.
   */
  merge(controls: readonly StoredControl[], at: number): StoredControl[] {
    return controls.filter((one) => {
      const known = this.#known.get(one.id)
      const isNew = known === undefined || (known.undoneAt === undefined && one.undoneAt !== undefined)
      if (!isNew || at > one.endsAt + KEPT_MS) return false
      if (known === undefined && !this.#hasRoomFor(one, at)) return false
      // keep the first known version: a message must not be able to rewrite a change
      this.#known.set(one.id, known ? { ...known, undoneAt: one.undoneAt, undoneBy: one.undoneBy } : one)
      return true
    })
  }

  #hasRoomFor(control: StoredControl, at: number): boolean {
    if (!isActive(control, at)) return this.#known.size < MAX_KNOWN
    const all = [...this.#known.values()]
    if (all.filter((one) => isActive(one, at)).length >= MAX_RECEIVED) return false
    const over = all.find((one) => !isActive(one, at))
    if (over && this.#known.size >= MAX_KNOWN) this.#known.delete(over.id)
    return true
  }

  /** Removes a change that was rejected before it was sent. */
  drop(id: string): void {
    this.#known.delete(id)
  }

  /** Removes changes that expired more than a minute ago. */
  removeExpired(at: number): void {
    for (const [id, { endsAt }] of this.#known) if (at > endsAt + KEPT_MS) this.#known.delete(id)
  }
}
