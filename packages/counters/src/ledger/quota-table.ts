/** Where the accounts of quotas are kept: one row for each key of each count, and what happened to it. Times are epoch ms. */
export interface QuotaTable {
  /** The accounts that there are, as they are at one moment. */
  read(ids: readonly AccountId[]): Promise<{ readonly now: number; readonly accounts: readonly StoredAccount[] }>
  /**
   * Writes each change whose account still has its version and the state of it, whose token nobody used, and whose time is that of the
   * database's clock; of any other one nothing is written.
   */
  commit(changes: readonly AccountChange[]): Promise<{ readonly now: number; readonly written: readonly boolean[] }>
  /** What a token of an account was used for; undefined where nobody used it. */
  usedToken(id: AccountId, token: string): Promise<StoredEntry | undefined>
  /** Accounts under these names of which something has ended by itself before now; at most `limit` of them. */
  due(names: readonly string[], limit: number): Promise<readonly AccountId[]>
  /** Usage by hour and key, in their order, from the first hour on and before the last, after `after`. */
  usage(query: UsageQuery): Promise<readonly StoredUsage[]>
  /** Entries of a key by their number, or of all keys, after `after`. */
  entries(query: EntryQuery): Promise<readonly StoredEntry[]>
  /** Leases without a report for which units are charged that nobody gave back. */
  stranded(query: StrandedQuery): Promise<readonly StrandedUnits[]>
  /** Notices under these names that nobody delivered, older than `ageMs`. Whoever gets them has `ageMs` to deliver them. */
  undelivered(names: readonly string[], ageMs: number, limit: number): Promise<readonly StoredNotice[]>
  delivered(ids: readonly string[]): Promise<void>
}

/** A key under the name of its count. */
export interface AccountId {
  readonly name: string
  readonly key: string
}

export interface StoredAccount extends AccountId {
  readonly version: number
  /** As `textOf` writes it. */
  readonly state: string
}

export interface AccountChange extends StoredAccount {
  /** Of `state`: one more than what is there; 1 for an account that is not. */
  readonly version: number
  /** `stateHash` of the state that it changes; undefined for an account that is not. */
  readonly basedOn: string | undefined
  /** In which the change was made: the database's clock must be in it. */
  readonly from: number
  readonly until: number
  readonly dueAt: number | undefined
  readonly token: string | undefined
  /** One whose token has an entry is left out: those that are written down again after a failover. */
  readonly entries: readonly QuotaEntry[]
  readonly usage: readonly UsageLine[]
  readonly notices: readonly StoredNotice[]
}

export interface StoredNotice extends AccountId, QuotaNotice {
  /** The same however often it is delivered. */
  readonly id: string
}

export interface StoredEntry extends AccountId, QuotaEntry {
  /** Grows with each entry. */
  readonly number: number
  readonly at: number
}

export interface StoredUsage extends AccountId, UsageLine {}

export interface UsageQuery {
  readonly name: string
  /** Undefined: all keys. */
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

/** Units that were charged for one lease. */
export interface StrandedUnits extends AccountId {
  readonly ref: string
  readonly period: string
  readonly units: number
  readonly at: number
}

/** What happened to an account, in words that stay: rows for the bill, none of which is ever changed. */
export interface QuotaEntry {
  readonly kind: QuotaEntryKind
  /** What makes it count once; null for what happens by itself. */
  readonly token: string | null
  /** What it belongs to: a lease or a reservation. */
  readonly ref: string | null
  /** Positive: charged or bought; negative: given back. */
  readonly units: number
  /** Label of the period; null for what has none. */
  readonly period: string | null
}

/**
 * `top-up`: bought. `refund`: given back by the operator. `stranded`: charged for a lease that nobody reported of; `reported`
 * takes that back, since its owner did after all; `credit`: an operator gave it back. `reserved`, then `posted`, `voided`
 * or `expired`.
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

/** Units of one hour. */
export interface UsageLine {
  /** Epoch ms of its start, by the quota's time zone. */
  readonly hour: number
  units: number
  stranded: number
  /** Of both: what top-ups paid for. */
  toppedUp: number
}

/** That a key has used so much of what a period includes. */
export interface QuotaNotice {
  readonly period: string
  /** Per cent of what the period includes. */
  readonly threshold: number
  readonly used: number
  readonly included: number
}
