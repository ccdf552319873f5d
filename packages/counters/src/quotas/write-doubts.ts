import type { PendingChange } from './pending-change.ts'

/** A write that was sent, and of which no answer came. */
interface Doubt {
  /** Its number among those of its process. */
  readonly number: number
  /** The version that the account has if it stands. */
  readonly version: number
  readonly changes: readonly PendingChange[]
}

/**
 * Writes of one account of which nobody knows whether they stand. One that is not there yet may still come, since its
 * statement may be under way, until another write has its version.
 */
export class WriteDoubts {
  #open: readonly Doubt[] = []

  get any(): boolean {
    return this.#open.length > 0
  }

  add(doubt: Doubt): void {
    this.#open = [...this.#open, doubt]
  }

  /** The table has this version, and of this process the write of this number. */
  read(version: number, number: number): void {
    this.#settle((doubt) => {
      if (doubt.number === number) return true
      return version >= doubt.version ? false : undefined
    })
  }

  /** A later write stands: none of these does. */
  overtaken(): void {
    this.#settle(() => false)
  }

  #settle(standsOf: (doubt: Doubt) => boolean | undefined): void {
    const known = this.#open.map((doubt) => ({ doubt, stands: standsOf(doubt) }))
    this.#open = known.filter(({ stands }) => stands === undefined).map(({ doubt }) => doubt)
    for (const { doubt, stands } of known) {
      if (stands !== undefined) for (const change of doubt.changes) change.settled?.(stands)
    }
  }
}
