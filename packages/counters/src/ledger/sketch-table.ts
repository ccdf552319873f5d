/** Kind of sketch: distinct keys (HyperLogLog) or measured values (t-digest). */
export type StoredSketchKind = 'unique' | 'digest'

/**
 * The sketches of one name and kind in a ledger. A row is one sketch of one or more hours under an id; the count of an
 * hour is the merge of all rows that include it. Hours are numbered from 1970 in UTC.
 */
export interface SketchTable {
  /**
   * Stores `format`, the parameters common to all sketches of the name, unless one is stored. Returns the stored
   * format.
   */
  claimFormat(format: string): Promise<string>
  /**
   * Adds the rows of a batch, all or none, exactly once. A batch whose number is not above the last number of its
   * writer adds nothing. Returns whether the batch was added.
   */
  append(batch: SketchBatch): Promise<boolean>
  /** Returns the rows of `id` that include an hour from `from` to before `until`, all read at the same moment. */
  read(id: string, range: HourRange): Promise<readonly SketchRow[]>
  /** Replaces several rows of an id with one, if all of them still exist. Returns whether they did. */
  replace(rows: readonly SketchRow[], by: NewSketchRow): Promise<boolean>
  /**
   * Returns at most `limit` groups of more than one row, in a fixed order, after `after`. Rows of one hour form a
   * group. Rows that begin before the hour `before` or have several hours form a group per day.
   */
  mergeableGroups(page: MergeableGroupsPage): Promise<readonly SketchGroup[]>
  /**
   * Deletes all rows that begin before the hour `before`. A ledger with its own clock keeps the last `keptDays` days
   * regardless, because the clock of a process may be far ahead.
   */
  deleteBefore(before: number, keptDays: number): Promise<void>
}

export interface HourRange {
  readonly from: number
  readonly until: number
}

export interface MergeableGroupsPage {
  readonly before: number
  readonly after: SketchGroup | undefined
  readonly limit: number
}

/** The hours `first` to `first + span - 1` of an id. `span` is 1, or 24 for a day. */
export interface SketchGroup {
  readonly id: string
  readonly first: number
  readonly span: number
}

export interface NewSketchRow {
  readonly id: string
  readonly firstHour: number
  /** Number of hours from `firstHour`: 1 to 24, all on one day. */
  readonly hours: number
  readonly bytes: Uint8Array
}

export interface SketchRow extends NewSketchRow {
  /** Unique number of the row, which is never reused. */
  readonly part: string
}

/** The rows that one writer added since its previous batch. */
export interface SketchBatch {
  /** Identifies one start of one process. A writer sends its batches one after the other. */
  readonly writer: string
  /** Starts at 1 and increases by 1 with each batch. */
  readonly number: number
  readonly rows: readonly NewSketchRow[]
}
