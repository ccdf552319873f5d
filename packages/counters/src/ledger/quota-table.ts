/**
 * Storage of quota accounts: one row for each key of a quota, and entries that record its history. Times are epoch ms.
 */
export interface QuotaTable {
  /**
   * Unique id of the time for which this process alone has the table. Leases made under another id have lost their
   * owner. Undefined if several processes may use the table at once.
   */
  readonly opening?: string | undefined
  /** Returns the existing accounts among `ids`, all read at the same moment. */
  read(ids: readonly AccountId[]): Promise<{ readonly now: number; readonly accounts: readonly StoredAccount[] }>
  /**
   * Writes each change if its account still has the version and state that the change is based on, its token is unused,
   * and the database's clock is within the change's time range. Other changes are not written. With `together`, either
   * all changes are written or none. Default: false.
   */
  commit(
    changes: readonly AccountChange[],
    together?: boolean,
  ): Promise<{ readonly now: number; readonly written: readonly boolean[] }>
  /** Returns the entry that used a token of an account; undefined if the token is unused. */
  usedToken(id: AccountId, token: string): Promise<StoredEntry | undefined>
  /** Returns at most `limit` accounts of these names with a period, lease or reservation that ended before now. */
  due(names: readonly string[], limit: number): Promise<readonly AccountId[]>
  /** Returns usage ordered by key and hour, from hour `from` to before `until`, after `after`. */
  usage(query: UsageQuery): Promise<readonly StoredUsage[]>
  /** Returns the entries of a key, or of all keys, ordered by number, after `after`. */
  entries(query: EntryQuery): Promise<readonly StoredEntry[]>
  /** Returns leases that ended without a report and whose charged units were not given back. */
  stranded(query: StrandedQuery): Promise<readonly StrandedUnits[]>
  /**
   * Claims undelivered notices of these names that were claimed at least `ageMs` ago. The caller has `ageMs` to deliver
   * them.
   */
  undelivered(names: readonly string[], ageMs: number, limit: number): Promise<readonly StoredNotice[]>
  delivered(ids: readonly string[]): Promise<void>
}

/** A key and the name of its quota. */
export interface AccountId {
  readonly name: string
  readonly key: string
}

export interface StoredAccount extends AccountId {
  readonly version: number
  /** Account state, serialized by `serializeState`. */
  readonly state: string
}

export interface AccountChange extends StoredAccount {
  /** Version of `state`: the stored version plus 1, or 1 for a new account. */
  readonly version: number
  /** `stateHash` of the previous state; undefined for a new account. */
  readonly basedOn: string | undefined
  /** Time range in which the change is valid, `from` inclusive and `until` exclusive, by the database's clock. */
  readonly from: number
  readonly until: number
  readonly dueAt: number | undefined
  readonly token: string | undefined
  /** Entries to add. An entry whose token exists is left out, since entries are written again after a failover. */
  readonly entries: readonly QuotaEntry[]
  readonly usage: readonly UsageLine[]
  readonly notices: readonly StoredNotice[]
}

export interface StoredNotice extends AccountId, QuotaNotice {
  /** Stays the same when the notice is delivered again. */
  readonly id: string
}

export interface StoredEntry extends AccountId, QuotaEntry {
  /** Increases with each entry. */
  readonly number: number
  readonly at: number
}

export interface StoredUsage extends AccountId, UsageLine {}

export interface UsageQuery {
  readonly name: string
  /** Undefined for all keys. */
  readonly key: string | undefined
  readonly from: number
  readonly until: number
  readonly after: Pick<StoredUsage, 'key' | 'hour'> | undefined
  readonly limit: number
}

export interface EntryQuery {
  readonly name: string
  readonly key: string | undefined
  readonly after: number
  readonly limit: number
}

export interface StrandedQuery {
  readonly name: string
  readonly key: string | undefined
  readonly limit: number
}

/** Units charged for a lease that ended without a report. */
export interface StrandedUnits extends AccountId {
  readonly ref: string
  readonly period: string
  readonly units: number
  readonly at: number
}

/** Event in the history of an account, for the bill. Entries are never changed or deleted. */
export interface QuotaEntry {
  readonly kind: QuotaEntryKind
  /** Makes the entry count once; null for entries that no caller requested. */
  readonly token: string | null
  /**
   * Id of the lease or reservation; null otherwise. For a take or refund of a waterfall, its answer in the first part, and
   * its token in the others.
   */
  readonly ref: string | null
  /** Positive if charged or bought, negative if given back. */
  readonly units: number
  /** Label of the period; null if the entry belongs to no period. */
  readonly period: string | null
}

/**
 * `top-up`: bought. `refund`: given back by an operator. `stranded`: charged for a lease that ended without a report.
 * `reported`: corrects `stranded` after a late report. `credit`: stranded units given back by an operator. `reserved`,
 * then `posted`, `voided` or `expired`: a reservation. `taken`, then `returned`: a take of a waterfall and its refunds.
 */
type QuotaEntryKind =
  | 'top-up'
  | 'refund'
  | 'stranded'
  | 'reported'
  | 'credit'
  | 'reserved'
  | 'posted'
  | 'voided'
  | 'expired'
  | 'taken'
  | 'returned'

/** Units used in one hour. */
export interface UsageLine {
  /** Start of the hour in the quota's time zone, in epoch ms. */
  readonly hour: number
  units: number
  stranded: number
  /** Part of `units` and `stranded` that was paid from top-ups. */
  toppedUp: number
}

/** Notice that a key has used a percentage of the units included in a period. */
export interface QuotaNotice {
  readonly period: string
  /** Percentage of the included units. */
  readonly threshold: number
  readonly used: number
  readonly included: number
}
