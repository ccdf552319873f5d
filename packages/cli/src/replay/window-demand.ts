import type { Clock, CompiledPolicy, Policy } from '@sluice/limiter-core'
import { PolicyVariants } from '@sluice/limiter-core/backend'
import { type ClientIds, type ClientRecords, NOT_SAMPLED } from '../counts/client-ids.ts'

/** Slices of a window that is measured exactly enough: it is at most a tenth too long, never too short. */
const SLICES = 10
/** Products of units and milliseconds below this are exact. */
const EXACT = 2 ** 50
const LARGEST = 1e9
const FIRST_ROOM = 1024

/**
 * Measures how many units a key uses in a window, whatever its limit: by a policy with a limit above all usage.
 *
 * Windows are counted by the algorithm of the policy, so that the largest measured number is the smallest limit that
 * would never have denied the key. Logs and buckets have no room for such a limit: their windows are counted in slices.
 * The cells of a client are found by its id, because the clients of a log are numbered anyway.
 */
export class WindowDemand implements ClientRecords {
  readonly #compiled: CompiledPolicy
  readonly #ids: ClientIds
  readonly #clock: Clock
  #cells: Float64Array

  /** `ids`: the clients of the log. */
  constructor(policy: Policy, ids: ClientIds, clock: Clock) {
    const { name, algorithm, windowMs } = policy
    const slices = isMeasuredInSlices(policy) ? SLICES : policy.slices
    const measured: Policy = {
      name,
      limit: Math.min(LARGEST, Math.floor(EXACT / windowMs)),
      windowMs,
      algorithm: isMeasuredInSlices(policy) ? 'sliding-window' : algorithm,
      ...(slices && { slices }),
    }
    this.#compiled = new PolicyVariants([measured]).compile(measured)
    this.#ids = ids
    this.#clock = clock
    this.#cells = new Float64Array(FIRST_ROOM * this.#compiled.cells)
    ids.join(this)
  }

  /** Adds the units of a request. Returns the units of its key in the window that ends now; 0 outside of the sample. */
  use(key: string, cost: number): number {
    const id = this.#ids.idOf(key)
    if (id === NOT_SAMPLED) return 0
    const compiled = this.#compiled
    const at = id * compiled.cells
    if (at >= this.#cells.length) this.#grow(at)
    const cells = this.#cells
    const now = this.#clock.now()
    const fits = compiled.waitMs(cells, at, now, cost) === 0
    if (fits) compiled.spend(cells, at, now, cost)
    const used = compiled.capacity - compiled.remaining(cells, at, now)
    return fits ? used : used + cost
  }

  forget(id: number): void {
    const { cells } = this.#compiled
    this.#cells.fill(0, id * cells, (id + 1) * cells)
  }

  #grow(at: number): void {
    const cells = new Float64Array(Math.max(at + this.#compiled.cells, this.#cells.length * 2))
    cells.set(this.#cells)
    this.#cells = cells
  }
}

/** Whether the windows of a policy are measured in slices: up to a tenth too long. */
export function isMeasuredInSlices({ algorithm }: Policy): boolean {
  return algorithm !== 'fixed-window' && algorithm !== 'sliding-window'
}
