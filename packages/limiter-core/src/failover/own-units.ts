import type { Admitted } from '../contracts.ts'

const EPSILON = 1e-6

/** Units that were admitted here, and that the backend did not count. */
const UNCOUNTED = 0
/** Units that were admitted here, and that the backend may have counted. */
const UNSURE = 1
/** Units that were admitted here, and of which the backend was told since. */
const REPORTED = 2
/** When the last unit was admitted here. */
const ADMITTED_AT = 3

/** What a backend knows of the units that are counted here in its place. */
export type Basis = 'counted' | 'uncounted' | 'unsure'

export type UnreportedUnits = Pick<Admitted, 'uncounted' | 'unsure'>

/** Cells, behind those of a policy, that tell what of it was admitted here and what of that the backend knows. */
export class OwnUnits {
  static readonly cells = 4
  /** Units given back of which the backend had been told: it is to hear that they came back, too. */
  returned = 0
  readonly #behind: number
  /** Units of the backend that one unit here stands for. */
  readonly #scale: number

  constructor(behind: number, scale: number) {
    this.#behind = behind
    this.#scale = scale
  }

  forget(cells: Float64Array, at: number): void {
    cells.fill(0, at + this.#behind, at + this.#behind + OwnUnits.cells)
  }

  /** Units were admitted here, or are given back. */
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

  /** What the backend was not told, of what is used in its units: of units that are new again by now nobody needs to hear. */
  unreported(cells: Float64Array, at: number, used: number): UnreportedUnits {
    const own = at + this.#behind
    const most = Math.ceil(used / this.#scale - EPSILON)
    const uncounted = Math.min(most, Math.ceil(cells[own + UNCOUNTED] - EPSILON))
    return { uncounted, unsure: Math.min(most - uncounted, Math.ceil(cells[own + UNSURE] - EPSILON)) }
  }

  /** What to tell the backend, which had told of so many units itself; it counts as told from now on. */
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
    // of a share all processes are taken to have admitted as much: together they say so once
    const units = Math.ceil((uncounted + unsure) * this.#scale)
    return { uncounted: 0, unsure: units, upTo: counted + units, ageMs }
  }

  /** The backend turned out to have counted so many units of those of which it was not sure: it knows of them. */
  counted(cells: Float64Array, at: number, units: number): void {
    const own = at + this.#behind
    const known = Math.min(cells[own + UNSURE], units)
    cells[own + UNSURE] -= known
    cells[own + REPORTED] += known
  }

  /** Takes back what could not be told. */
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
