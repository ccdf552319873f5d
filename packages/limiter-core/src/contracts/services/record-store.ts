/** Stores small texts under ids until they end, for all processes, also while none of them runs. */
export interface RecordStore {
  /**
   * Stores a text until `endsAt`, in epoch ms, and replaces an earlier text of the id. Can be repeated safely. A store
   * may be bounded; then it removes the records that end first.
   */
  put(id: string, text: string, endsAt: number): Promise<void>
  /** Returns the texts of all records that have not ended, in any order. */
  all(): Promise<readonly string[]>
}
