import { createHash } from 'node:crypto'
import {
  type Cap,
  type Denial,
  FULL,
  HeldPermit,
  type MaxHoldTimer,
  type Permit,
  WEIGHT_EXCEEDS_LIMIT,
} from '@sluice/limiter-core/backend'
import type { SignedRows } from '../../signed-rows.ts'
import type { ExactStage } from './exact-stage.ts'

/** Dependencies of a cap. */
export interface SketchInflightCapDeps {
  /** The cells of all caps. */
  readonly counts: SignedRows
  /** Reads the clock, if an observer needs hold times. */
  readonly now: () => number
  /** Takes permits back that are held too long. */
  readonly bound: MaxHoldTimer | undefined
  /** The second stage of all caps of this name. */
  readonly exact: ExactStage | undefined
  /** Places that a key may have in the cells; further places go to the second stage. */
  readonly trigger: number
}

interface Given {
  readonly key: string
  readonly weight: number
  readonly acquiredAt: number
  /** Whether the second stage counts it. Otherwise the cells of its hash do. */
  readonly exact: boolean
  readonly low: number
  readonly high: number
}

class SketchPermit extends HeldPermit {
  readonly exact: boolean
  readonly low: number
  readonly high: number

  constructor(home: SketchInflightCap, { key, weight, acquiredAt, exact, low, high }: Given) {
    super(home, key, weight, acquiredAt)
    this.exact = exact
    this.low = low
    this.high = high
  }
}

/** A cap on cells that it shares with others. */
export class SketchInflightCap {
  /** Time of the last saturation check, per cap, so that one saturated cap does not hide another. */
  lookedAt: number = Number.NEGATIVE_INFINITY
  readonly #limit: number
  readonly #means: SketchInflightCapDeps
  readonly #counts: SignedRows
  // turns the hash of a key into that of the key under this cap
  readonly #turnLow: number
  readonly #turnHigh: number
  #low = 0
  #high = 0

  constructor(cap: Cap, means: SketchInflightCapDeps) {
    this.#limit = cap.limit
    this.#means = means
    this.#counts = means.counts
    const turn = createHash('sha256').update('@sluice/sketches cap\0').update(capId(cap)).digest()
    this.#turnLow = turn.readInt32LE(0)
    this.#turnHigh = turn.readInt32LE(4)
  }

  acquire(key: string, weight: number): Permit | Denial {
    if (weight > this.#limit) return WEIGHT_EXCEEDS_LIMIT
    const { exact, trigger, bound } = this.#means
    const seen = this.#seen(key)
    const known = exact?.has(key) === true
    const held = known ? exact.held(key, seen) : seen
    if (held + weight > this.#limit) return FULL
    const counted = known || (exact !== undefined && seen + weight > trigger)
    if (counted) exact?.add(key, weight, seen)
    else if (this.#counts.fits(weight)) this.#counts.add(weight)
    else return FULL
    const acquiredAt = this.#means.now()
    const permit = new SketchPermit(this, {
      key,
      weight,
      acquiredAt,
      exact: counted,
      low: this.#low,
      high: this.#high,
    })
    bound?.add(permit)
    return permit
  }

  count(key: string): number {
    const seen = this.#seen(key)
    return this.#means.exact?.held(key, seen) ?? seen
  }

  released(permit: SketchPermit): void {
    const { exact, bound } = this.#means
    const { key, weight } = permit
    bound?.delete(permit)
    if (permit.exact) {
      exact?.take(key, weight)
      return
    }
    this.#counts.keys.aimAt(permit.low, permit.high)
    this.#counts.take(weight)
    exact?.returned(key, weight)
  }

  /** Returns the estimate of the cells for `key`: its own places, and those of others that share all cells. */
  #seen(key: string): number {
    const { keys } = this.#counts
    const { low, high } = keys.seed.hashOf(key)
    this.#low = low ^ this.#turnLow
    this.#high = high ^ this.#turnHigh
    keys.aimAt(this.#low, this.#high)
    return this.#counts.least()
  }
}

/** Caps of one name and place are one. */
export function capId({ place, name }: Cap): string {
  return JSON.stringify([place, name])
}
