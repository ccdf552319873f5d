import type { AdmittedUnits } from '../contracts.ts'

const EPSILON = 1e-6

/** Cell: locally admitted units that the backend did not count. */
const UNCOUNTED = 0
/** Cell: locally admitted units that the backend may have counted. */
const UNSURE = 1
/** Cell: locally admitted units that have been reported to the backend. */
const REPORTED = 2
/** Cell: time at which the last unit was admitted locally. */
const ADMITTED_AT = 3

/** Whether a backend has counted units that are counted here instead; `unsure` if its reply is missing. */
export type Basis = 'counted' | 'uncounted' | 'unsure'

export type UnreportedUnits = Pick<AdmittedUnits, 'uncounted' | 'unsure'>

/** Additional cells of a key: units that were admitted here, by whether the backend has counted or received them. */
export class OwnUnits {
  static readonly cells = 4
  /** Refunded units that had been reported to the backend, so that their return must be reported too. */
  returned = 0
  /** Offset of these cells from the first cell of the key. */
  readonly #offset: number
  /** Backend units per local unit. */
  readonly #scale: number

  constructor(offset: number, scale: number) {
    this.#offset = offset
    this.#scale = scale
  }

  forget(cells: Float64Array, at: number): void {
    cells.fill(0, at + this.#offset, at + this.#offset + OwnUnits.cells)
  }

  /** Adds units that were admitted here; negative units are refunds. */
  add(cells: Float64Array, at: number, now: number, units: number, basis: Basis): void {
    const own = at + this.#offset
    if (units > 0) {
      cells[own + (basis === 'uncounted' ? UNCOUNTED : UNSURE)] += units
      cells[own + ADMITTED_AT] = now
      return
    }
    let back = -units
    for (const cell of [UNCOUNTED, UNSURE, REPORTED]) {
      const taken = Math.min(cells[own + cell], back)
      cells[own + cell] -= taken
      back -= taken
      if (cell === REPORTED) this.returned += taken
    }
  }

  /**
   * Returns the admitted units that the backend has not received, in local units, and at most `used` backend units:
   * expired units need not be reported.
   */
  unreported(cells: Float64Array, at: number, used: number): UnreportedUnits {
    const own = at + this.#offset
    const most = Math.ceil(used / this.#scale - EPSILON)
    const uncounted = Math.min(most, Math.ceil(cells[own + UNCOUNTED] - EPSILON))
    return { uncounted, unsure: Math.min(most - uncounted, Math.ceil(cells[own + UNSURE] - EPSILON)) }
  }

  /**
   * Returns the admitted units in the form of a report to the backend, which had itself reported `counted` units. From
   * then on, they count as reported.
   */
  handOut(
    cells: Float64Array,
    at: number,
    now: number,
    { uncounted, unsure }: UnreportedUnits,
    counted: number,
  ): AdmittedUnits | undefined {
    if (uncounted + unsure === 0) return undefined
    const own = at + this.#offset
    const ageMs = Math.max(0, now - cells[own + ADMITTED_AT])
    cells[own + UNCOUNTED] = 0
    cells[own + UNSURE] = 0
    cells[own + REPORTED] += uncounted + unsure
    if (this.#scale === 1) return { uncounted, unsure, upTo: counted + unsure, ageMs }
    // with a share, all processes are assumed to have admitted as much: together they report it once
    const units = Math.ceil((uncounted + unsure) * this.#scale)
    return { uncounted: 0, unsure: units, upTo: counted + units, ageMs }
  }

  /**
   * Records whether the backend has counted units that were uncertain, and units that it received with the same call,
   * unless they have been reported meanwhile.
   */
  resolve(cells: Float64Array, at: number, units: number, isCounted: boolean, reported?: AdmittedUnits): void {
    const own = at + this.#offset
    const { uncounted = 0, unsure = 0 } = reported ?? {}
    const known = Math.min(cells[own + UNSURE], units + uncounted + (isCounted ? unsure / this.#scale : 0))
    cells[own + UNSURE] -= known
    cells[own + (isCounted ? REPORTED : UNCOUNTED)] += known
  }

  /** Takes back units that could not be reported. */
  handBack(
    cells: Float64Array,
    at: number,
    { uncounted, unsure, ageMs }: AdmittedUnits,
    now: number,
    basis: Basis,
  ): void {
    const own = at + this.#offset
    const unreported = uncounted + unsure / this.#scale
    const sure = basis === 'uncounted' ? uncounted : 0
    cells[own + REPORTED] = Math.max(0, cells[own + REPORTED] - unreported)
    cells[own + UNCOUNTED] += sure
    cells[own + UNSURE] += unreported - sure
    cells[own + ADMITTED_AT] = Math.max(cells[own + ADMITTED_AT], now - ageMs)
  }
}
