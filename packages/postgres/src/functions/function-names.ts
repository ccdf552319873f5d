/** Names and numbers that the functions of one schema contain. */
export interface FunctionNames {
  readonly schema: string
  /** Table with the time before which counts may have been lost. */
  readonly epoch: string
  /** Number that is mixed into the hashes of names, so that other advisory locks of the database do not meet them. */
  readonly lockSeed: number
}

/** Time by which a row is kept longer than needed, so that its index entry changes rarely. */
export const SLACK_MS = 60_000
/** Time by which rows are kept longer if their times are not those of the server. */
export const SIMULATED_EXTRA_MS = 600_000
/** SQLSTATE of a statement that is rolled back because its deadline has passed. */
export const LATE_STATE = 'SL001'
