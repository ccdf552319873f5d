/** A key that a policy bans. */
export interface BanSnapshot {
  /** Id of the key, for `explain`. */
  readonly id: string
  readonly key: string
  readonly policy: string
  /** When the ban ends. */
  readonly endsAt: number
  /** Number of earlier bans that made this one longer. */
  readonly level: number
}
