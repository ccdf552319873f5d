import {
  type CompiledPolicy,
  OUTAGE_RETRY_MS,
  type PriorUsage,
  restoreUsage,
  WrappedPolicy,
} from '@sluice/limiter-core/backend'
import { chargeLate, revertLateCharge } from './charge-late.ts'
import type { PendingUsage } from './pending-usage.ts'
import type { SyncTerms } from './sync-terms.ts'

// offsets of the additional cells, which follow the cells of the policy
const ASKED_AT = 0
const PENDING = 1
const HELD = 2
const PLACE = 3
const LATE_FROM = 4
const IN_LEDGER = 5
const OWN_CELLS = 6

/** Position of a key's row in the table. */
export interface Row {
  cells: Float64Array
  at: number
}

/** The cells of a key in a ledger's reply, and the units that the process has not reported since the request. */
export interface Adopted {
  readonly cells: readonly number[]
  readonly requestedAt: number
  readonly unreported: (place: number) => PendingUsage | undefined
  /** Whether the request was sent several times, so that its units may have been counted in an earlier window. */
  readonly isRepeated: boolean
  /** Place of the key in the ledger; undefined in a reply. */
  readonly place?: number
}

/**
 * A policy over the last known usage of all processes. The cells of the policy are followed by six cells:
 * - the time when they were requested from the ledger,
 * - the units that this process took and that are missing in the ledger's cells,
 * - the part of these units that is held back and not in the outbox,
 * - the position of the rest in the outbox,
 * - the start of the window that this process had opened before it learned of the current one, which began later; 0 if
 *   there is none. Units that were taken since then are charged to the current window, and can be refunded there,
 * - the place of the key in the ledger; 0 if it is unknown.
 */
export class SyncedPolicy extends WrappedPolicy {
  /** Number of units that this process may hold back per key while `floorNodes` processes share the limit. */
  floor = 0
  floorNodes = 0
  /** Takes within this time are reported as one: an eighth of the window. */
  readonly spanMs: number
  /** Number of processes that are assumed to take as much as this one. Above 1 while their counts do not arrive. */
  scale = 1
  /** The row that was spent from or adjusted last. */
  readonly row: Row = { cells: new Float64Array(0), at: 0 }
  /** Whether a window begins with a take, so that processes may begin the same window at different times. */
  readonly #opensWindows: boolean
  readonly #burst: number
  readonly #gapMs: number

  constructor(inner: CompiledPolicy, { burst, gapMs }: SyncTerms) {
    super(inner, OWN_CELLS)
    this.spanMs = inner.policy.windowMs / 8
    this.#opensWindows = inner.policy.algorithm === 'fixed-window' && inner.variants === undefined
    this.#burst = Math.max(1, Math.floor(inner.capacity * burst))
    this.#gapMs = gapMs
  }

  waitMs(cells: Float64Array, at: number, now: number, cost: number): number {
    if (cost === 0) return 0
    const waitMs = this.inner.waitMs(cells, at, now, cost * this.scale + this.#unseen(cells, at, now))
    if (waitMs > 0) return waitMs === Number.POSITIVE_INFINITY && cost <= this.capacity ? OUTAGE_RETRY_MS : waitMs
    // other processes may have taken as much since the last reply; the next reply will show it
    return this.scale === 1 && this.#isBurst(cells, at, now, cost) ? this.#gapMs : 0
  }

  /** Decisions name the time of the limiter's policy, without the pause after a burst. */
  override numbers(
    cells: Float64Array,
    at: number,
    now: number,
    cost: number,
    waitMs: number,
    numbers: Float64Array,
  ): void {
    if (this.scale === 1) this.inner.numbers(cells, at, now, cost, waitMs, numbers)
    else super.numbers(cells, at, now, cost, waitMs, numbers)
  }

  override spend(cells: Float64Array, at: number, now: number, cost: number): void {
    this.inner.spend(cells, at, now, cost)
    cells[at + this.first + PENDING] += cost
    this.#note(cells, at)
  }

  override adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number {
    const moved = this.inner.adjust(cells, at, now, units, this.#chargedAt(cells, at, now, units, takenAt))
    cells[at + this.first + PENDING] += moved
    this.#note(cells, at)
    return moved
  }

  remaining(cells: Float64Array, at: number, now: number): number {
    const remaining = this.inner.remaining(cells, at, now)
    if (this.scale === 1) return remaining
    return Math.max(0, Math.floor((remaining - this.#unseen(cells, at, now)) / this.scale))
  }

  /** Adopts a usage without cells, such as from the tail. It does not have to be reported. */
  override adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void {
    this.inner.adopt(cells, at, now, used, resetAfterMs)
    cells.fill(0, at + this.first, at + this.cells)
  }

  /** Restores usage that the ledger has under other cells. The units of this process stay to be reported. */
  readonly restorer: Pick<CompiledPolicy, 'adopt'> = {
    adopt: (cells, at, now, used, resetAfterMs) => restoreUsage(this.inner, cells, at, now, { used, resetAfterMs }),
  }

  /** Returns an adopter of the ledger's cells that adds the units which this process has not reported. */
  adopterOf({ cells: reply, requestedAt, unreported, isRepeated, place }: Adopted): Pick<CompiledPolicy, 'adopt'> {
    return {
      adopt: (cells, at, now) => {
        const own = at + this.first
        cells[own + LATE_FROM] = this.#lateFrom(cells, at, reply, isRepeated)
        for (let cell = 0; cell < this.inner.cells; cell++) cells[at + cell] = reply[cell] ?? 0
        cells[own + ASKED_AT] = requestedAt
        if (place !== undefined) cells[own + IN_LEDGER] = place
        const usage = unreported(cells[own + PLACE])
        if (!usage) cells[own + PLACE] = 0
        this.#chargeUnreported(cells, at, now, usage)
      },
    }
  }

  /** Returns the time at which the ledger charged units that this process took at `takenAt`. */
  chargedAt({ cells, at }: Row, now: number, units: number, takenAt: number): number {
    return this.#chargedAt(cells, at, now, units, takenAt)
  }

  /** Returns when the key was last requested from the ledger; 0 if it never was. */
  requestedAt({ cells, at }: Row): number {
    return cells[at + this.first + ASKED_AT]
  }

  /** Returns the place of the key in the ledger; 0 if it is unknown. */
  placeInLedger({ cells, at }: Row): number {
    return cells[at + this.first + IN_LEDGER]
  }

  /** Returns the used part of the limit, 0 to 1, as last known. */
  pressure({ cells, at }: Row, now: number): number {
    return 1 - this.inner.remaining(cells, at, now) / this.capacity
  }

  /** Returns the units that this process took and that no reply of the ledger contains yet. */
  pending({ cells, at }: Row): number {
    return cells[at + this.first + PENDING]
  }

  /** Returns the position of the key in the outbox; 0 if it has none. */
  outboxPosition({ cells, at }: Row): number {
    return cells[at + this.first + PLACE]
  }

  /**
   * Returns the usage by all processes at the last request, without the units of this process that the ledger has not
   * confirmed. Returns undefined if the key was never requested or is unused.
   */
  known(row: Row, now: number, unanswered: readonly (PendingUsage | undefined)[]): PriorUsage | undefined {
    const { inner } = this
    const requestedAt = this.requestedAt(row)
    const copy = row.cells.slice(row.at, row.at + inner.cells)
    revertLateCharge(inner, copy, now, row.cells[row.at + this.first + HELD], now)
    for (const { takes } of unanswered.filter((usage) => usage !== undefined)) {
      for (let take = 0; take < takes.length; take += 2)
        revertLateCharge(inner, copy, now, takes[take + 1], takes[take])
    }
    const used = this.capacity - inner.remaining(copy, 0, now)
    const resetAfterMs = inner.resetAfterMs(copy, 0, now)
    if (requestedAt === 0 || !(used > 0 && resetAfterMs > 0)) return undefined
    return { used, resetAfterMs, ageMs: Math.max(0, now - requestedAt) }
  }

  /** Holds back units of a key if the total stays within `floor`. Returns whether it did. */
  holdBack({ cells, at }: Row, units: number, floor: number): boolean {
    const held = at + this.first + HELD
    if (units < 0 || cells[held] + units > floor || cells[at + this.first + PLACE] !== 0) return false
    cells[held] += units
    return true
  }

  /** Returns the units that were held back, and stores the `place` of the outbox where the caller adds them. */
  releaseHeldBack({ cells, at }: Row, place: number): number {
    const held = cells[at + this.first + HELD]
    cells[at + this.first + HELD] = 0
    cells[at + this.first + PLACE] = place
    return held
  }

  #chargedAt(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number {
    const lateFrom = cells[at + this.first + LATE_FROM]
    if (units >= 0 || lateFrom === 0 || takenAt < lateFrom) return takenAt
    const startsAt = cells[at]
    return takenAt < startsAt && startsAt - lateFrom < this.policy.windowMs ? now : takenAt
  }

  /** Returns `LATE_FROM` for cells that `reply` will replace. */
  #lateFrom(cells: Float64Array, at: number, reply: readonly number[], isRepeated: boolean): number {
    const { windowMs } = this.policy
    if (!this.#opensWindows) return 0
    const startsAt = reply[0] ?? 0
    const isOverlapping = (earlier: number): boolean =>
      earlier > 0 && earlier < startsAt && startsAt - earlier < windowMs
    const known = cells[at + this.first + LATE_FROM]
    if (isOverlapping(known)) return known
    return !isRepeated && isOverlapping(cells[at]) ? cells[at] : 0
  }

  /** Adds the units that the ledger has not counted: those held back, and `usage` in the outbox. */
  #chargeUnreported(cells: Float64Array, at: number, now: number, usage: PendingUsage | undefined): void {
    const own = at + this.first
    cells[own + PENDING] = cells[own + HELD] + (usage?.units ?? 0)
    if (cells[own + HELD] > 0) this.#charge(cells, at, now, cells[own + HELD], now)
    for (let take = 0; usage && take < usage.takes.length; take += 2) {
      this.#charge(cells, at, now, usage.takes[take + 1], usage.takes[take])
    }
  }

  #note(cells: Float64Array, at: number): void {
    this.row.cells = cells
    this.row.at = at
  }

  #charge(cells: Float64Array, at: number, now: number, units: number, takenAt: number): void {
    chargeLate(this.inner, cells, at, now, units, takenAt)
  }

  /**
   * Estimates the units that other processes took since the last reply, assuming that each takes as much as this one.
   * Units that have expired are not included.
   */
  #unseen(cells: Float64Array, at: number, now: number): number {
    if (this.scale === 1) return 0
    const used = this.capacity - this.inner.remaining(cells, at, now)
    return Math.max(0, Math.min(cells[at + this.first + PENDING], used)) * (this.scale - 1)
  }

  #isBurst(cells: Float64Array, at: number, now: number, cost: number): boolean {
    const pending = cells[at + this.first + PENDING]
    if (pending <= 0 || cost === 0 || pending + cost <= this.#burst) return false
    // expired units do not indicate how much other processes may have taken
    const used = this.capacity - this.inner.remaining(cells, at, now)
    return used > 0 && Math.min(pending, used) + cost > this.#burst
  }
}
