/** The places of a learned limit that one process may hold for a key, while other processes hold the rest. */
export interface KeyShare {
  /** An integer from 0. Work that holds more places goes on. */
  readonly places: number
  /** Resolves when the first share is known, or cannot be known in time; undefined if there is nothing to wait for. */
  opening(): Promise<void> | undefined
  /** Called when work found no place, to report that soon. */
  lacked(): void
  /** Gives the share back as soon as no place is held. */
  leave(): void
}

/** What a process holds of a key, and what it knows about its limit. */
export interface SharedKey {
  /** Limit before anything has been learned, and the places of a process that cannot reach the others at its start. */
  readonly initial: number
  readonly least: number
  /** Returns what is reported. `version`: that of the limit; samples of other versions are not reported. */
  report(version: number, processes: number): ShareReport
  /** Called with each reply. Returns a new limit if this process learns the limit and the samples suffice. */
  received(state: SharedState): number | undefined
}

export interface ShareReport {
  /** Places that are held, the part of them that is added to the limit, and the places that could be used. */
  readonly held: number
  readonly long: number
  readonly wanted: number
  /** Text without spaces and `|`. */
  readonly samples: string
}

export interface SharedState {
  /** Limit of all processes; its version changes whenever it is learned. */
  readonly limit: number
  readonly version: number
  /** Whether all processes are within the limit, so that samples show what it causes. */
  readonly isSettled: boolean
  /** Places of the limit that are left to processes which may be cut off. */
  readonly reserved: number
  /** Samples of all processes, if this process learns the limit. */
  readonly samples: readonly string[] | undefined
}
