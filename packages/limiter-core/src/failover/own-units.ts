import type { Admitted } from '../contracts.ts'

const EPSILON = 1e-6

/** Units that were admitted here, and that the backend did not count. */
const UNCOUNTED = 0
/** Units that were admitted here, and that the backend may have counted. */
const UNSURE = 1
/** Cell: locally admitted units that have been reported to the backend. */
const REPORTED = 2
/** When the last unit was admitted here. */
const ADMITTED_AT = 3

/** What a backend knows about units that are counted here in its place. */
export type Basis = 'counted' | 'uncounted' | 'unsure'

export type UnreportedUnits = Pick<Admitted, 'uncounted' | 'unsure'>

/** Cells after those of a policy: which of its units were admitted here, and what the backend knows about them. */
export class OwnUnits {
  static readonly cells = 4
  /** Refunded units that had been reported to the backend, so that their return must be reported too. */
  returned = 0
  readonly #behind: number
  /** Backend units per local unit. */
  readonly #scale: number

  constructor(behind: number, scale: number) {
    this.#behind = behind
    this.#scale = scale
  }

  forget(cells: Float64Array, at: number): void {
    cells.fill(0, at + this.#behind, at + this.#behind + OwnUnits.cells)
  }

  /** Adds units that were admitted here; negative units are refunds. */
  add(cells: Float64Array, at: number, now: number, units: number, basis: Basis): void {
    const own = at + this.#behind
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
   * Returns the units that the backend does not know, in backend units. Units that have expired need not be reported.
   */
  unreported(cells: Float64Array, at: number, used: number): UnreportedUnits {
    const own = at + this.#behind
    const most = Math.ceil(used / this.#scale - EPSILON)
    const uncounted = Math.min(most, Math.ceil(cells[own + UNCOUNTED] - EPSILON))
    return { uncounted, unsure: Math.min(most - uncounted, Math.ceil(cells[own + UNSURE] - EPSILON)) }
  }

  /**
   * Returns what to report to the backend, which had itself reported `used` units. The units count as reported from
   * then on.
   */
  handOut(
    cells: Float64Array,
    at: number,
    now: number,
    { uncounted, unsure }: UnreportedUnits,
    counted: number,
  ): Admitted | undefined {
    if (uncounted + unsure === 0) return undefined
    const own = at + this.#behind
    const ageMs = Math.max(0, now - cells[own + ADMITTED_AT])
    cells[own + UNCOUNTED] = 0
    cells[own + UNSURE] = 0
    cells[own + REPORTED] += uncounted + unsure
    if (this.#scale === 1) return { uncounted, unsure, upTo: counted + unsure, ageMs }
    // with a share, all processes are assumed to have admitted as much: together they report it once
    const units = Math.ceil((uncounted + unsure) * this.#scale)
    return { uncounted: 0, unsure: units, upTo: counted + units, ageMs }
  }

  /** Records that the backend has counted this many of the uncertain units. */
  counted(cells: Float64Array, at: number, units: number): void {
    const own = at + this.#behind
    const known = Math.min(cells[own + UNSURE], units)
    cells[own + UNSURE] -= known
    cells[own + REPORTED] += known
  }

  /** Takes back units that could not be reported. */
  handBack(cells: Float64Array, at: number, { uncounted, unsure, ageMs }: Admitted, now: number, basis: Basis): void {
    const own = at + this.#behind
    const unreported = uncounted + unsure / this.#scale
    const sure = basis === 'uncounted' ? uncounted : 0
    cells[own + REPORTED] = Math.max(0, cells[own + REPORTED] - unreported)
    cells[own + UNCOUNTED] += sure
    cells[own + UNSURE] += unreported - sure
    cells[own + ADMITTED_AT] = Math.max(cells[own + ADMITTED_AT], now - ageMs)
  }
}
