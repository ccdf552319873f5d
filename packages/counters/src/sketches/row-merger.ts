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
  /** From 0 to 1, 1 left out. */
  readonly random: () => number
}

/** A row that was added merges those of its hour with this chance, so that an hour has about as many rows as this is of 1. */
const MERGE_CHANCE = 1 / 32
const PAGE = 100

/**
 * Puts one row in the place of many: those of an hour, now and then while they are added; those of hours that are not kept
 * apart any more, as one of their day. Any number of processes may do so at once: what one has merged, no other has.
 */
export class RowMerger<Kind extends Sketch<Kind>, Value> {
  readonly #options: RowMergerOptions<Kind, Value>
  /** Under way, one after the other. Never rejects. */
  #background: Promise<void> = Promise.resolve()
  /** Groups that wait for it, so that none waits twice. */
  readonly #waiting = new Set<string>()
  #askedHour = Number.NEGATIVE_INFINITY
  #isEnding = false

  constructor(options: RowMergerOptions<Kind, Value>) {
    this.#options = options
  }

  /** Merges in the background: of `rows`, which were added, some; once an hour, by one process of a fleet, all. */
  appended(rows: readonly NewSketchRow[]): void {
    const { clock, kind, random, table } = this.#options
    for (const { id, firstHour } of rows) {
      if (random() < MERGE_CHANCE) this.#later({ id, first: firstHour, span: 1 })
    }
    const hour = hourOf('add', clock.wall())
    if (hour === this.#askedHour) return
    this.#askedHour = hour
    this.#inBackground(async () => {
      // whoever is the writer of this hour does it for the fleet; a clock that is ahead takes no other hour
      const isFirst = await table.append({ writer: `compaction:${kind}:${hour}`, number: 1, rows: [] })
      if (isFirst) await this.#compactAll()
    })
  }

  /**
   * Merges all that can be, and deletes days that are not kept, after what is under way. Answers how many rows went. Rejects
   * where some could not be merged, after all others.
   */
  compact(): Promise<number> {
    const compacted = this.#background.then(() => this.#compactAll())
    this.#background = compacted.then(
      () => {},
      () => {},
    )
    return compacted
  }

  /** Waits for what is under way, and begins nothing more. */
  async end(): Promise<void> {
    this.#isEnding = true
    await this.#background
  }

  async #compactAll(): Promise<number> {
    const { table, clock, keptDays } = this.#options
    const hour = hourOf('compact', clock.wall())
    await table.forget((dayOf(hour) - keptDays + 1) * HOURS, keptDays)
    let rows = 0
    let failure: { readonly error: unknown } | undefined
    let after: SketchGroup | undefined
    do {
      const page = await table.crowded({ before: this.#oldBefore, after, limit: PAGE })
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

  /** The first hour that is kept apart. */
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
        // nothing is lost: rows that are not merged are merged later
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
    // not spread: a backlog may be more rows than a call takes arguments
    const firstHour = rows.reduce((least, row) => Math.min(least, row.firstHour), Number.POSITIVE_INFINITY)
    const end = rows.reduce((most, row) => Math.max(most, row.firstHour + row.hours), firstHour)
    const bytes = storedBytes(format, await mergedRows(format, rows))
    const isReplaced = await table.replace(rows, { id, firstHour, hours: end - firstHour, bytes })
    return isReplaced ? rows.length - 1 : 0
  }
}
