/** What is summarised: different keys by HyperLogLog, or measured values by t-digest. */
export type StoredSketchKind = 'unique' | 'digest'

/**
 * The sketches of one name and kind in a ledger. A row is one sketch of some hours under an id; what was counted under an
 * id in an hour is the merge of all rows that have it. Hours have numbers, from 1970 in UTC.
 */
export interface SketchTable {
  /** Keeps `format`, what all sketches of this name have in common, unless there is one; answers the one that is kept. */
  claimFormat(format: string): Promise<string>
  /**
   * Adds the rows of a batch once, however often it is sent: one whose number is not above the last one of its writer adds
   * none. All or none. Answers whether the number was above it.
   */
  append(batch: SketchBatch): Promise<boolean>
  /** The rows under `id` that have an hour from `from` on and before `until`, as they are at one moment. */
  read(id: string, range: HourRange): Promise<readonly SketchRow[]>
  /** Puts one row in the place of several under its id, if each of them is still there. Answers whether it was so. */
  replace(rows: readonly SketchRow[], by: NewSketchRow): Promise<boolean>
  /**
   * Groups of more than one row, in an order of their own, from the one after `after`; `limit` at most. Rows of one hour
   * make a group, those of one day where they begin before the hour `before` or have several hours.
   */
  crowded(page: CrowdedPage): Promise<readonly SketchGroup[]>
  /**
   * Deletes all rows that begin before an hour. A ledger with a clock of its own deletes none of the last `keptDays` days
   * by that: the clock of a process may be far ahead.
   */
  forget(before: number, keptDays: number): Promise<void>
}

export interface HourRange {
  readonly from: number
  readonly until: number
}

export interface CrowdedPage {
  readonly before: number
  readonly after: SketchGroup | undefined
  readonly limit: number
}

/** The hours `first` to `first + span - 1` of an id; `span`: 1, or 24 for a day. */
export interface SketchGroup {
  readonly id: string
  readonly first: number
  readonly span: number
}

export interface NewSketchRow {
  readonly id: string
  readonly firstHour: number
  /** How many, from the first on: 1 to 24, all of one day. */
  readonly hours: number
  readonly bytes: Uint8Array
}

export interface SketchRow extends NewSketchRow {
  /** No other row has it, and none ever gets it again. */
  readonly part: string
}

/** What one writer counted since its batch before. */
export interface SketchBatch {
  /** Of one process, and of one start of it. Sends its batches one after the other. */
  readonly writer: string
  /** From 1, one more for each batch. */
  readonly number: number
  readonly rows: readonly NewSketchRow[]
}
