import { type Policy, parseDuration } from '@sluice/limiter-core/backend'
import { FULL } from '../cells.ts'
import { HokusaiTime } from '../hokusai/hokusai-time.ts'
import { described, SketchError, wholeOption } from '../sketch-error.ts'
import { refused } from './kept-policy.ts'
import type { HistoryOptions } from './sketch-backend-options.ts'
import type { WindowMemory } from './window-memory.ts'
import { WindowRule } from './window-rule.ts'
import { SATURATED, WindowSpans } from './window-spans.ts'

const DEPTH = 4
const BLOCKS_PER_LEVEL = 4
const MIN_WIDTH = 64
const MAX_UNITS = 2 ** 32 - 1
/** Later than this `HokusaiTime` counts no ms. */
const LATEST_MS = 2 ** 52

/**
 * Windows of any length over one `HokusaiTime`: the current unit, and past blocks of doubling length. A block that is
 * partly in a window counts proportionally or completely. Positions are drawn once, because blocks of different times
 * are merged. Nothing can be refunded.
 */
export class WindowHistory implements WindowMemory {
  readonly spans: WindowSpans
  readonly width: number
  readonly refunds = false
  readonly countsFrom: number = Number.NEGATIVE_INFINITY
  readonly keptMs: number
  readonly #history: HokusaiTime
  readonly #unitMs: number
  readonly #keepMs: number
  readonly #parts: Float64Array
  #shortestMs: number
  #turnedAt = Number.NEGATIVE_INFINITY
  // added to clock readings after the clock was set back by more than what is kept
  #offsetMs = 0

  /** Throws `SLUICE_BAD_DURATION`, and `SLUICE_BAD_OPTION` where `bytes` hold no such history. */
  constructor({ unit, keep, blocksPerLevel = BLOCKS_PER_LEVEL }: HistoryOptions, bytes: number) {
    this.#unitMs = parseDuration(unit, 'history: unit')
    this.#keepMs = parseDuration(keep, 'history: keep')
    if (this.#keepMs % this.#unitMs !== 0) {
      throw new SketchError(
        'SLUICE_BAD_OPTION',
        `history: keep: expected a multiple of ${described(unit)}, received ${described(keep)}`,
      )
    }
    wholeOption('history: keep, in units', this.#keepMs / this.#unitMs, 1, MAX_UNITS)
    wholeOption('history: blocksPerLevel', blocksPerLevel, 1, 64)
    const shape = { depth: DEPTH, unitMs: this.#unitMs, retainMs: this.#keepMs, blocksPerLevel }
    this.width = widthFor(bytes, (width) => HokusaiTime.bytesFor({ ...shape, width }))
    this.#history = new HokusaiTime({ ...shape, width: this.width })
    this.spans = new WindowSpans(this.#history.maxParts)
    this.#parts = new Float64Array(2 * this.#history.maxParts)
    this.#shortestMs = this.#keepMs
    // a block begins at most two parts in `blocksPerLevel` of a window before it, and three times with one
    this.keptMs = this.#keepMs * (1 + 2 / blocksPerLevel) + 2 * this.#unitMs
  }

  ruleOf(policy: Policy): WindowRule {
    const { algorithm, slices = 1, windowMs, limit } = policy
    if (algorithm !== 'sliding-window')
      throw refused(
        policy,
        `expected algorithm sliding-window, the only one that a history supports, received ${algorithm}`,
      )
    if (windowMs % this.#unitMs !== 0 || windowMs > this.#keepMs) {
      throw refused(
        policy,
        `expected a window that is a multiple of ${this.#unitMs} ms, at most ${this.#keepMs} ms, received ${windowMs} ms`,
      )
    }
    if (limit >= FULL[32])
      throw refused(policy, `expected a limit of at most ${FULL[32] - 1} with a history, received ${limit}`)
    return slices === 1 ? new WindowRule('weighted', limit, windowMs) : new WholeBlocks(limit, windowMs, this.#waitMs)
  }

  bind({ windowMs }: WindowRule): void {
    this.#shortestMs = Math.min(this.#shortestMs, windowMs)
  }

  unbind(): void {}

  /** An alarm may repeat with the policy's own window, because shorter windows turn too often for longer ones. */
  alarmAgainAfterMs({ windowMs }: WindowRule): number {
    return windowMs / 2
  }

  turn(now: number): boolean {
    const history = this.#history
    const behindMs = this.#behindMs(now)
    const tooLate = now + this.#offsetMs > LATEST_MS
    if (tooLate && -behindMs > this.keptMs) this.#beginAgain(now)
    else if (tooLate || behindMs > this.keptMs) this.#offsetMs += behindMs
    history.advance(now + this.#offsetMs)
    if (Math.abs(now - this.#turnedAt) < this.#shortestMs / 2) return false
    this.#turnedAt = now
    return true
  }

  /** A clock that was set back by more than what is kept counts as the start of the current unit. */
  asOf(now: number): number {
    const behindMs = this.#behindMs(now)
    return behindMs > this.keptMs ? now + behindMs : Math.min(now, LATEST_MS - this.#offsetMs)
  }

  open(): void {}

  aim(low: number, high: number, now: number): void {
    this.#history.aimAt(low, high)
    this.#read(now)
  }

  add(units: number, now: number): void {
    // a sum above 2^32 is full, however large
    this.#history.addAimed(Math.min(units, FULL[32]), now + this.#offsetMs)
    this.#read(now)
  }

  /** Late charges are counted now, slightly too long. */
  adjust(units: number, _takenAt: number, now: number): number {
    if (units < 0) return 0
    this.add(units, now)
    return units
  }

  /** Restarts when everything counted is older than what is kept. */
  #beginAgain(now: number): void {
    this.#history.clear()
    this.#offsetMs = -now
  }

  /** Returns how long ago `now` was when the current unit started. */
  #behindMs(now: number): number {
    return this.#history.running * this.#unitMs - (now + this.#offsetMs)
  }

  /** Turns the parts around: the oldest first, each from where the one before it ended. */
  #read(now: number): void {
    const { spans } = this
    const parts = this.#parts
    const at = now + this.#offsetMs
    const count = this.#history.aimedParts(parts, at)
    spans.length = count
    let from = this.#history.partsFromMs(at) - this.#offsetMs
    for (let i = 0, part = count - 1; part >= 0; i++, part--) {
      spans.from[i] = from
      from = parts[2 * part] - this.#offsetMs
      spans.to[i] = from
      const units = parts[2 * part + 1]
      spans.units[i] = units < FULL[32] ? units : SATURATED
    }
  }

  readonly #waitMs = (most: number, windowMs: number, now: number): number =>
    this.#history.aimedWaitMs(most, windowMs, now + this.#offsetMs)
}

type WaitMs = (most: number, windowMs: number, now: number) => number

/** Blocks grow as they age, so the history computes when a key is free: never too early. */
class WholeBlocks extends WindowRule {
  readonly #waitMs: WaitMs

  constructor(limit: number, windowMs: number, waitMs: WaitMs) {
    super('whole', limit, windowMs)
    this.#waitMs = waitMs
  }

  override waitMs(_spans: WindowSpans, now: number, cost: number): number {
    return cost === 0 ? 0 : this.#waitMs(this.limit - cost, this.windowMs, now)
  }
}

/** The largest power of two of cells a row that `bytes` hold. */
function widthFor(bytes: number, bytesFor: (width: number) => number): number {
  const missing = bytesFor(MIN_WIDTH) - bytes
  if (missing > 0) {
    // a thirty-second of what is added is for resets
    const more = Math.ceil((missing * 32) / 31)
    throw new SketchError('SLUICE_BAD_OPTION', `bytes: expected ${more} more bytes for this history, received too few`)
  }
  let width = MIN_WIDTH
  while (width < 2 ** 24 && bytesFor(2 * width) <= bytes) width *= 2
  return width
}
