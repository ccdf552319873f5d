/**
 * Books on the units of one process: what it counted is what waits, what the ledger applied, and what a reset took.
 * Kept modulo 2^32, so that no sum is inexact.
 */
export class UnitAudit {
  #open = 0

  counted(units: number): void {
    this.#open = (this.#open + (units | 0)) | 0
  }

  /** Applied by the ledger, or taken by a reset. */
  settled(units: number): void {
    this.#open = (this.#open - (units | 0)) | 0
  }

  /** What is neither counted for nor waiting: 0 unless units were lost or doubled on the way. `waiting`: all units that wait. */
  difference(waiting: Iterable<number>): number {
    let difference = this.#open
    for (const units of waiting) difference = (difference - (units | 0)) | 0
    return difference
  }
}
