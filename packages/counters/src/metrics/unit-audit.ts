/**
 * Audits the units of one process: counted units must equal the waiting units plus the units that the ledger applied or
 * a reset removed. Calculated modulo 2^32, so that every sum is exact.
 */
export class UnitAudit {
  #open = 0

  counted(units: number): void {
    this.#open = (this.#open + (units | 0)) | 0
  }

  /** Records units that the ledger applied or a reset removed. */
  settled(units: number): void {
    this.#open = (this.#open - (units | 0)) | 0
  }

  /**
   * Returns the units that are unaccounted for: 0 unless units were lost or doubled. `waiting`: all units that still
   * wait.
   */
  difference(waiting: Iterable<number>): number {
    let difference = this.#open
    for (const units of waiting) difference = (difference - (units | 0)) | 0
    return difference
  }
}
