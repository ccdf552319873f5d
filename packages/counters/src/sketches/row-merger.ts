import { messageOf } from '@sluice/limiter-core/backend'
import type { Sketch } from '@sluice/sketches'
import type { LedgerSettings } from '../counter-options.ts'
import { dayOf, HOURS, hourOf, type KeptHours } from '../kinds/utc-hours.ts'
import { groupOf } from '../ledger/sketch-group.ts'
import type { NewSketchRow, SketchGroup, SketchTable, StoredSketchKind } from '../ledger/sketch-table.ts'
import { mergedRows, type SketchFormat, storedBytes } from './sketch-format.ts'

export interface RowMergerOptions<Kind extends Sketch<Kind>, Value> extends LedgerSettings, KeptHours {
  readonly kind: StoredSketchKind
  readonly table: SketchTable
  readonly format: SketchFormat<Kind, Value>
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number
}

/**
 * Probability that an added row triggers a merge of its hour. The inverse is about the number of rows that an hour has.
 */
const MERGE_CHANCE = 1 / 32
const PAGE = 100

/**
 * Replaces many rows with one: rows of an hour, occasionally after an add, and rows of hours that are no longer kept
 * separately, with one row for their day. Any number of processes may do so at once: each row is replaced only once.
 */
export class RowMerger<Kind extends Sketch<Kind>, Value> {
  readonly #options: RowMergerOptions<Kind, Value>
  /** Background work, one task after the other. Never rejects. */
  #background: Promise<void> = Promise.resolve()
  /** Groups that wait for their merge, so that none is queued twice. */
  readonly #waiting = new Set<string>()
  #askedHour = Number.NEGATIVE_INFINITY
  #isEnding = false

  constructor(options: RowMergerOptions<Kind, Value>) {
    this.#options = options
  }

  /**
   * Merges rows in the background: for some of the added `rows`, those of their hour; once an hour, in one process of a
   * fleet, all rows.
   */
  rowsAdded(rows: readonly NewSketchRow[]): void {
    const { clock, kind, random, table } = this.#options
    for (const { id, firstHour } of rows) {
      if (random() < MERGE_CHANCE) this.#later({ id, first: firstHour, span: 1 })
    }
    const hour = hourOf('add', clock.wall())
    if (hour === this.#askedHour) return
    this.#askedHour = hour
    this.#inBackground(async () => {
      // one process becomes the writer of this hour and merges for the fleet; a clock that is ahead claims only its own
      // hour
      const isFirst = await table.append({ writer: `compaction:${kind}:${hour}`, number: 1, rows: [] })
      if (isFirst) await this.#compactAll()
    })
  }

  /**
   * Merges all groups of rows and deletes days that are no longer kept, after the background work in progress. Returns
   * the number of rows removed. Rejects if some groups could not be merged, after all others were.
   */
  compact(): Promise<number> {
    const compacted = this.#background.then(() => this.#compactAll())
    this.#background = compacted.then(
      () => {},
      () => {},
    )
    return compacted
  }

  /** Waits for the task in progress and starts no others. */
  async end(): Promise<void> {
    this.#isEnding = true
    await this.#background
  }

  async #compactAll(): Promise<number> {
    const { table, clock, keptDays } = this.#options
    const hour = hourOf('compact', clock.wall())
    await table.deleteBefore((dayOf(hour) - keptDays + 1) * HOURS, keptDays)
    let rows = 0
    let failure: { readonly error: unknown } | undefined
    let after: SketchGroup | undefined
    do {
      const page = await table.mergeableGroups({ before: this.#oldBefore, after, limit: PAGE })
      for (const group of page) {
        if (this.#isEnding) return rows
        rows += await this.#merge(group).catch((error: unknown) => {
          failure ??= { error }
          return 0
        })
      }
      after = page.length < PAGE ? undefined : page.at(-1)
    } while (after)
    if (failure) throw failure.error
    return rows
  }

  /** First hour that is kept separately. */
  get #oldBefore(): number {
    return hourOf('compact', this.#options.clock.wall()) - this.#options.keptHours + 1
  }

  #later(group: SketchGroup): void {
    const key = `${group.first}/${group.id}`
    if (this.#waiting.has(key)) return
    this.#waiting.add(key)
    this.#inBackground(async () => {
      this.#waiting.delete(key)
      await this.#merge(group)
    })
  }

  #inBackground(run: () => Promise<unknown>): void {
    const { name, observers } = this.#options
    this.#background = this.#background.then(async () => {
      if (this.#isEnding) return
      try {
        await run()
      } catch (error) {
        // nothing is lost: a later merge includes these rows
        observers.event('backendFailed', { backend: 'counters', name, reason: messageOf(error) })
      }
    })
  }

  async #merge({ id, first, span }: SketchGroup): Promise<number> {
    const { table, format } = this.#options
    const before = this.#oldBefore
    const all = await table.read(id, { from: first, until: first + span })
    const rows = all.filter((row) => groupOf(row, before).span === span)
    if (rows.length < 2) return 0
    // no spread: a backlog may have more rows than a call may have arguments
    const firstHour = rows.reduce((least, row) => Math.min(least, row.firstHour), Number.POSITIVE_INFINITY)
    const end = rows.reduce((most, row) => Math.max(most, row.firstHour + row.hours), firstHour)
    const bytes = storedBytes(format, await mergedRows(format, rows))
    const isReplaced = await table.replace(rows, { id, firstHour, hours: end - firstHour, bytes })
    return isReplaced ? rows.length - 1 : 0
  }
}
