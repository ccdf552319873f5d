import type { PendingChange } from './account-change.ts'

/** A write that was sent without receiving a reply. */
interface Doubt {
  /** Number of the write in this process. */
  readonly number: number
  /** Version of the account if the write is applied. */
  readonly version: number
  readonly changes: readonly PendingChange[]
}

/**
 * Writes of one account whose outcome is unknown. A write that is not stored yet may still be applied, because its
 * statement may be running, until another write has taken its version.
 */
export class UnconfirmedWrites {
  #open: readonly Doubt[] = []

  get any(): boolean {
    return this.#open.length > 0
  }

  add(doubt: Doubt): void {
    this.#open = [...this.#open, doubt]
  }

  /** Settles doubts by the stored version and the number of this process's last stored write. */
  read(version: number, number: number): void {
    this.#settle((doubt) => {
      if (doubt.number === number) return true
      return version >= doubt.version ? false : undefined
    })
  }

  /** Called when a later write was applied: none of the doubtful writes can be applied any longer. */
  rejectAll(): void {
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
