import {
  type AcquireOptions,
  type Cap,
  type Clock,
  checkedUnits,
  type Denial,
  FULL,
  type InflightBackend,
  MaxHoldTimers,
  type Observers,
  type Permit,
  SluiceError,
} from '@sluice/limiter-core/backend'
import { KeyRows } from '../../key-rows.ts'
import { SignedRows } from '../../signed-rows.ts'
import type { SketchSeed } from '../../sketch-seed.ts'
import { ExactStage } from './exact-stage.ts'
import { capId, SketchInflightCap } from './sketch-inflight-cap.ts'

const NAME = 'sketch-inflight'
/** A share of keys that is worth an alarm. */
const LARGE_SHARE = 0.01
/** Looking takes some µs, which a flood of denials is not to pay each time. */
const LOOK_EVERY_MS = 1_000

/** `SketchInflightOptions`, checked. */
export interface SketchInflightTableDeps {
  readonly rows: number
  readonly slots: number
  readonly seed: SketchSeed
  /** Places of a key that the cells count, for a cap of this limit; `undefined`: all of them. */
  readonly triggerOf: ((limit: number) => number) | undefined
  readonly clock: Clock
  readonly observers: Observers
}

/** Permits of this process, counted by a sketch that all caps on it share. */
export class SketchInflightTable implements InflightBackend {
  readonly #parts: SketchInflightTableDeps
  readonly #counts: SignedRows
  readonly #caps = new WeakMap<Cap, SketchInflightCap>()
  readonly #stages = new Map<string, ExactStage>()
  readonly #maxHoldTimers: MaxHoldTimers

  constructor(parts: SketchInflightTableDeps) {
    this.#parts = parts
    this.#maxHoldTimers = new MaxHoldTimers(parts.clock)
    this.#counts = new SignedRows(new KeyRows(parts.slots, parts.rows, parts.seed))
  }

  acquire(key: string, { weight = 1, signal, cap }: AcquireOptions = {}): Permit | Denial {
    const counting = this.#of(cap)
    checkedUnits(weight, 'weight')
    if (signal?.aborted) return FULL
    const answer = counting.acquire(key, weight)
    if (answer === FULL && this.#parts.observers.any) this.#look(cap as Cap, counting)
    return answer
  }

  /** Places held for `key` under `cap`, or more. */
  count(key: string, cap?: Cap): number {
    return this.#of(cap).count(key)
  }

  /** Stops the timers; permits that are held now are not revoked. */
  close(): void {
    this.#maxHoldTimers.close()
  }

  #of(cap: Cap | undefined): SketchInflightCap {
    if (!cap)
      throw new SluiceError(
        'SLUICE_BAD_LIMIT',
        'sketchInflight: expected a cap with a limit, received a call without a cap',
      )
    const known = this.#caps.get(cap)
    if (known) return known
    const made = this.#made(cap)
    this.#caps.set(cap, made)
    return made
  }

  #made(cap: Cap): SketchInflightCap {
    const { triggerOf, clock } = this.#parts
    const bound = this.#maxHoldTimers.of(cap.maxHoldMs)
    return new SketchInflightCap(cap, {
      counts: this.#counts,
      now: bound ? () => clock.now() : () => 0,
      bound,
      exact: triggerOf && this.#stageOf(capId(cap)),
      trigger: triggerOf?.(cap.limit) ?? Number.POSITIVE_INFINITY,
    })
  }

  #stageOf(id: string): ExactStage {
    const stage = this.#stages.get(id) ?? new ExactStage()
    this.#stages.set(id, stage)
    return stage
  }

  /** Reports a cap that is nearly full because of other keys. */
  #look({ name, limit }: Cap, counting: SketchInflightCap): void {
    const { clock, observers } = this.#parts
    const now = clock.now()
    // false for NaN too
    if (!(Math.abs(now - counting.lookedAt) >= LOOK_EVERY_MS)) return
    counting.lookedAt = now
    const share = this.#counts.chanceOf(Math.ceil(limit / 2))
    if (share >= LARGE_SHARE) observers.event('saturated', { backend: NAME, cap: name, limit, share })
  }
}
