/** How a count in this process may differ from the count of all processes. */
export interface CountEstimate {
  /**
   * Units that this process took and the shared count does not contain yet; an integer, negative for refunds. The count
   * in this process contains them.
   */
  readonly unreported: number
  /** Age of the units of other processes in the count, in whole ms; undefined if none were received yet. */
  readonly othersAgeMs: number | undefined
}
