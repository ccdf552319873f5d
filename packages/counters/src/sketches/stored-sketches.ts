import { badOption, clockOf, integerFrom, optionalFunction, optionsOf, SluiceError } from '@sluice/limiter-core/backend'
import type { Sketch } from '@sluice/sketches'
import { checkId } from '../counter-id.ts'
import { type LedgerSettings, ledgerSettings } from '../counter-options.ts'
import { dayOf, HOURS, hourOf, type KeptHours, keptHoursOf, MAX_DAYS } from '../kinds/utc-hours.ts'
import { MemoryLedger } from '../ledger/memory-ledger.ts'
import type { HourRange, SketchRow, SketchTable } from '../ledger/sketch-table.ts'
import { TimedSketchTable } from '../ledger/timed-sketch-table.ts'
import { RowMerger } from './row-merger.ts'
import { type FormatClaim, keptFormat, mergedRows, type SketchFormat } from './sketch-format.ts'
import type {
  DayReadOptions,
  HourReadOptions,
  SketchAddOptions,
  SketchReceipt,
  StoredSketchOptions,
} from './sketch-options.ts'
import { SketchWriter } from './sketch-writer.ts'

interface StoredSketchSettings extends LedgerSettings, KeptHours {
  readonly table: SketchTable
  readonly maxBatch: number
  readonly maxWaiting: number
  readonly random: () => number
}

/** Parts that need the format in the ledger. */
interface Opened<Kind extends Sketch<Kind>, Value> {
  readonly format: SketchFormat<Kind, Value>
  readonly writer: SketchWriter<Kind, Value>
  readonly merger: RowMerger<Kind, Value>
}

const MAX_ROWS = 10_000
const MAX_WAITING = 1_000_000

/**
 * Sketches by id, hour and day that a fleet adds to and a ledger stores. Subclasses add queries for their kind of
 * sketch.
 */
export abstract class StoredSketches<Kind extends Sketch<Kind>, Value> {
  readonly #settings: StoredSketchSettings
  readonly #claim: FormatClaim<Kind, Value>
  #opened: Opened<Kind, Value> | undefined
  #opening: Promise<Opened<Kind, Value>> | undefined
  #closing: Promise<void> | undefined

  /** Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_DURATION` and `SLUICE_BAD_NAME`. */
  constructor(owner: string, claim: FormatClaim<Kind, Value>, options: StoredSketchOptions) {
    const { maxBatch = 200, maxWaiting = 10_000, random = Math.random } = options
    const ledger = options.ledger ?? new MemoryLedger(clockOf(options.clock))
    const settings = ledgerSettings(owner, ledger, options)
    optionalFunction(`${owner}: random`, random)
    if (typeof ledger.openSketches !== 'function') {
      throw badOption(`${owner}: ledger`, ledger, 'a ledger that stores sketches, such as postgresLedger(pool)')
    }
    const { name, clock, waitMs } = settings
    this.#claim = claim
    this.#settings = {
      ...settings,
      ...keptHoursOf(owner, options),
      table: new TimedSketchTable(ledger.openSketches(name, claim.kind), clock, waitMs),
      maxBatch: integerFrom(`${owner}: maxBatch`, maxBatch, 1, MAX_ROWS),
      maxWaiting: integerFrom(`${owner}: maxWaiting`, maxWaiting, 1, MAX_WAITING),
      random,
    }
  }

  async add(id: string, value: Value, options: SketchAddOptions = {}): Promise<SketchReceipt> {
    checkId(id)
    const { durable = false } = optionsOf('add', options, ['durable'])
    if (typeof durable !== 'boolean') throw badOption('add: durable', durable, 'true or false')
    this.#checkOpen()
    const { writer } = this.#opened ?? (await this.#open())
    this.#checkOpen()
    const added = { id, hour: this.#hourNow, value }
    if (durable) await writer.addDurable(added)
    else writer.add(added)
    return { durable: durable && this.#settings.durable }
  }

  async hourSketch(id: string, options: HourReadOptions = {}): Promise<Kind | undefined> {
    const { now = this.#settings.clock.wall() } = optionsOf('hour', options, ['now'])
    const hour = hourOf('hour', now)
    const { format, rows } = await this.#read(id, { from: hour, until: hour + 1 })
    // an hour is deleted together with its day
    const isKept = hour > this.#hourNow - this.#settings.keptHours && dayOf(hour) >= this.#oldestDay
    // a process that keeps fewer hours separately may have merged this one
    return isKept && rows.every(({ hours }) => hours === 1) ? mergedRows(format, rows) : undefined
  }

  async daySketch(id: string, options: DayReadOptions = {}): Promise<Kind> {
    const { now = this.#settings.clock.wall(), days = 1 } = optionsOf('day', options, ['now', 'days'])
    const last = dayOf(hourOf('day', now))
    const first = Math.max(this.#oldestDay, last - integerFrom('day: days', days, 1, MAX_DAYS) + 1)
    const { format, rows } = await this.#read(id, { from: first * HOURS, until: (last + 1) * HOURS })
    return mergedRows(format, rows)
  }

  async compact(): Promise<number> {
    await this.flush()
    return (await this.#open()).merger.compact()
  }

  async flush(): Promise<void> {
    this.#checkOpen()
    await this.#opened?.writer.flush()
  }

  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  get #hourNow(): number {
    return hourOf('now', this.#settings.clock.wall())
  }

  get #oldestDay(): number {
    return dayOf(this.#hourNow) - this.#settings.keptDays + 1
  }

  async #read(
    id: string,
    range: HourRange,
  ): Promise<{ readonly format: SketchFormat<Kind, Value>; readonly rows: readonly SketchRow[] }> {
    checkId(id)
    await this.flush()
    const { format } = await this.#open()
    return { format, rows: await this.#settings.table.read(id, range) }
  }

  /** Requests the format from the ledger, once successfully. */
  #open(): Promise<Opened<Kind, Value>> {
    this.#opening ??= this.#ask().catch((error: unknown) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  async #ask(): Promise<Opened<Kind, Value>> {
    const settings = this.#settings
    const { kind, json, resolve } = this.#claim
    const format = resolve(keptFormat(await settings.table.claimFormat(json)))
    const merger = new RowMerger({ ...settings, kind, format })
    this.#opened = { format, merger, writer: new SketchWriter({ ...settings, format, merger }) }
    return this.#opened
  }

  async #end(): Promise<void> {
    try {
      await this.#opened?.writer.end()
    } finally {
      await this.#opened?.merger.end()
    }
  }

  #checkOpen(): void {
    if (this.#closing === undefined) return
    throw new SluiceError('SLUICE_COUNTERS_CLOSED', `counters '${this.#settings.name}' are closed`)
  }
}
