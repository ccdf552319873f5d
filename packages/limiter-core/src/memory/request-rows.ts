import type { Charge } from '../contracts.ts'
import type { CountTable, Row } from './count-table.ts'
import { neededUnits } from './held-charge.ts'
import { slotsOf } from './memory-counter.ts'
import type { SlotRef } from './shard.ts'

interface MeasuredRow extends Row {
  waitMs: number
}

const NO_WORDS = new Int32Array(0)
const NO_CELLS = new Float64Array(0)

/**
 * The rows of one request with several charges. Each key is looked up once: its slot stays valid until a key is
 * inserted, which may move or evict others. The next request reuses the rows.
 */
export class RequestRows {
  /** Whether an enforced charge does not fit. */
  isDenied = false
  /** Whether several charges have the same key and count. */
  isRepeated = false
  /** Whether every charge fits. */
  fitsAll = true
  readonly #table: CountTable
  readonly #rows: MeasuredRow[] = []
  #inserts = 0

  constructor(table: CountTable) {
    this.#table = table
  }

  /**
   * Finds the rows of the charges, and how long each charge has to wait. If all others fit, the last one is left out,
   * and true is returned: the caller takes it first, and reports with `doesNotFit` if it is denied.
   */
  measure(charges: readonly Charge[], now: number): boolean {
    this.isRepeated = false
    this.isDenied = false
    this.fitsAll = true
    this.#inserts = this.#table.inserts
    for (let index = 0; index < charges.length; index++) {
      const charge = charges[index]
      const { key, counter } = charge
      const slots = slotsOf(counter)
      const row = this.#rowAt(index)
      this.#table.findRow(slots, key, now, row, index > 0 && key === charges[index - 1].key)
      row.waitMs = 0
      // charges of one key are taken in their order
      for (let other = 0; other < index; other++) if (isSameKey(this.#rows[other], row)) this.isRepeated = true
      if (index === charges.length - 1 && !this.isRepeated && this.isTaken(charge)) return true
      row.waitMs = slots.compiled.waitMs(row.cells, row.at, now, neededUnits(charge, slots.compiled, row, now))
      if (row.waitMs > 0) this.doesNotFit(charge)
    }
    return false
  }

  doesNotFit({ advisory }: Charge): void {
    this.fitsAll = false
    if (!advisory) this.isDenied = true
  }

  /** Whether a charge is taken: an enforced one if all of them fit, an advisory one if everything fits. */
  isTaken({ advisory }: Charge): boolean {
    return !this.isDenied && (this.fitsAll || !advisory)
  }

  waitMsOf(index: number): number {
    return this.#rows[index].waitMs
  }

  /** Selects the key of a charge in the table, and returns its slot. */
  slotOf(index: number, { key, counter }: Charge, now: number): SlotRef {
    const row = this.#rows[index]
    const table = this.#table
    // the slot that stands for absent keys is shared
    const isValid = table.inserts === this.#inserts && table.isStored(row)
    return isValid ? table.select(row) : table.find(slotsOf(counter), key, now)
  }

  #rowAt(index: number): MeasuredRow {
    const known = this.#rows[index]
    if (known) return known
    const made = { words: NO_WORDS, word: 0, expiry: 0, cells: NO_CELLS, at: 0, low: 0, high: 0, waitMs: 0 }
    this.#rows.push(made)
    return made
  }
}

function isSameKey(one: Row, other: Row): boolean {
  return one.low === other.low && one.high === other.high
}
