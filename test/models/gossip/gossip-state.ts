/** `kills`: replicas that are killed; `silences`: times that half of `deadAfterMs` passes for a replica without news. */
export type GossipSize = Readonly<Record<'replicas' | 'kills' | 'silences', number>>

/** A replica was taken over up to `clock`. The mark is at `at` in the log of the replica that took it over. */
export interface Mark {
  readonly gone: number
  readonly clock: number
  readonly at: number
}

/** A log at a clock: the votes of its replica, by the replica that is gone, and its marks. */
export interface Log {
  readonly clock: number
  readonly votes: readonly (readonly [gone: number, folder: number, clock: number])[]
  readonly marks: readonly Mark[]
}

export interface Replica {
  /** Whether it runs under this name: false once it was killed, or knows that others consider it gone. */
  readonly isAlive: boolean
  /** All logs as this replica has them, and for each the halves of `deadAfterMs` since it had news of the replica. */
  readonly logs: readonly Log[]
  readonly ages: readonly number[]
}

export interface GossipState {
  readonly kills: number
  readonly silences: number
  readonly replicas: readonly Replica[]
}
