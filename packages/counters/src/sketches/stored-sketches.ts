import { badOption, clockOf, optionalFunction, optionsOf, SluiceError } from '@sluice/limiter-core/backend'
import type { Sketch } from '@sluice/sketches'
import { checkId } from '../counter-id.ts'
import { ledgerSettings, wholeWithin } from '../counter-options.ts'
import { dayOf, HOURS, hourOf, type KeptHours, keptHoursOf, MOST_DAYS } from '../kinds/utc-hours.ts'
import { MemoryLedger } from '../ledger/memory-ledger.ts'
import type { SketchRow, SketchTable } from '../ledger/sketch-table.ts'
import { TimedSketchTable } from '../ledger/timed-sketch-table.ts'
import { RowMerger } from './row-merger.ts'
import { type FormatClaim, mergedRows, type SketchFormat } from './sketch-format.ts'
import type {
  DayReadOptions,
  HourReadOptions,
  SketchAddOptions,
  SketchReceipt,
  StoredSketchOptions,
} from './sketch-options.ts'
import { SketchWriter, type SketchWriterOptions } from './sketch-writer.ts'

const MOST = 1_000_000

/** Sketches under ids, by hour and by day, that a fleet adds to and a ledger keeps. */
export class StoredSketches<Kind extends Sketch<Kind>, Value> {
  readonly #settings: Omit<SketchWriterOptions, 'onAppended'> & KeptHours
  readonly #claim: FormatClaim<Kind, Value>
  readonly #writer: SketchWriter<Kind, Value>
  readonly #merger: RowMerger<Kind, Value>
  /** Once it is known what the ledger has. */
  #format: SketchFormat<Kind, Value> | undefined
  #asking: Promise<SketchFormat<Kind, Value>> | undefined
  #closing: Promise<void> | undefined

  /** Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_DURATION` and `SLUICE_BAD_NAME`. */
  constructor(owner: string, claim: FormatClaim<Kind, Value>, options: StoredSketchOptions) {
    const { maxBatch = 500, maxWaiting = 10_000, random = Math.random, hours, days } = options
    const ledger = options.ledger ?? new MemoryLedger(clockOf(options.clock))
    const settings = ledgerSettings(owner, ledger, options)
    optionalFunction(`${owner}: random`, random)
    if (typeof ledger.openSketches !== 'function') {
      throw badOption(`${owner}: ledger`, ledger, 'a ledger that keeps sketches, as postgresLedger makes it')
    }
    const table = new TimedSketchTable(ledger.openSketches(settings.name, claim.kind), settings.clock, settings.waitMs)
    this.#settings = {
      ...settings,
      ...keptHoursOf(owner, { hours, days }),
      table,
      maxBatch: wholeWithin(`${owner}: maxBatch`, maxBatch, 10_000),
      maxWaiting: wholeWithin(`${owner}: maxWaiting`, maxWaiting, MOST),
    }
    this.#claim = claim
    this.#merger = new RowMerger({ ...this.#settings, random })
    const onAppended: SketchWriterOptions['onAppended'] = (rows) => {
      if (this.#format) this.#merger.appended(this.#format, rows)
    }
    this.#writer = new SketchWriter({ ...this.#settings, onAppended })
  }

  async add(id: string, value: Value, options: SketchAddOptions = {}): Promise<SketchReceipt> {
    checkId(id)
    const { durable = false } = optionsOf('add', options, ['durable'])
    if (typeof durable !== 'boolean') throw badOption('add: durable', durable, 'true or false')
    this.#checkOpen()
    const format = this.#format ?? (await this.#agreed())
    this.#checkOpen()
    const added = { id, hour: hourOf('add', this.#settings.clock.wall()), value }
    if (durable) await this.#writer.addDurable(format, added)
    else this.#writer.add(format, added)
    return { durable: durable && this.#settings.durable }
  }

  /** Undefined where that hour is part of its day by now. */
  async hour(id: string, options: HourReadOptions = {}): Promise<Kind | undefined> {
    checkId(id)
    const { clock, keptHours } = this.#settings
    const { now = clock.wall() } = optionsOf('hour', options, ['now'])
    const hour = hourOf('hour', now)
    const { format, rows } = await this.#rows(id, { from: hour, until: hour + 1 })
    const isKept = hour > hourOf('hour', clock.wall()) - keptHours
    // a process that keeps fewer hours apart may have merged it
    return isKept && rows.every(({ hours }) => hours === 1) ? mergedRows(format, rows) : undefined
  }

  async day(id: string, options: DayReadOptions = {}): Promise<Kind> {
    checkId(id)
    const { clock, keptDays } = this.#settings
    const { now = clock.wall(), days = 1 } = optionsOf('day', options, ['now', 'days'])
    const last = dayOf(hourOf('day', now))
    const oldest = dayOf(hourOf('day', clock.wall())) - keptDays + 1
    const first = Math.max(oldest, last - wholeWithin('day: days', days, MOST_DAYS) + 1)
    const { format, rows } = await this.#rows(id, { from: first * HOURS, until: (last + 1) * HOURS })
    return mergedRows(format, rows)
  }

  async compact(): Promise<number> {
    await this.flush()
    return this.#merger.compact(await this.#agreed())
  }

  async flush(): Promise<void> {
    this.#checkOpen()
    await this.#writer.flush()
  }

  close(): Promise<void> {
    this.#closing ??= this.#writer.end().finally(() => this.#merger.end())
    return this.#closing
  }

  async #rows(
    id: string,
    range: { readonly from: number; readonly until: number },
  ): Promise<{ readonly format: SketchFormat<Kind, Value>; readonly rows: readonly SketchRow[] }> {
    await this.flush()
    const format = await this.#agreed()
    return { format, rows: await this.#settings.table.read(id, range) }
  }

  /** Asks the ledger until it has answered once. */
  #agreed(): Promise<SketchFormat<Kind, Value>> {
    this.#asking ??= this.#ask().catch((error: unknown) => {
      this.#asking = undefined
      throw error
    })
    return this.#asking
  }

  async #ask(): Promise<SketchFormat<Kind, Value>> {
    const table: SketchTable = this.#settings.table
    this.#format = this.#claim.agreed(await table.claimFormat(this.#claim.text))
    return this.#format
  }

  #checkOpen(): void {
    if (this.#closing === undefined) return
    throw new SluiceError('SLUICE_COUNTERS_CLOSED', `counters '${this.#settings.name}' are closed`)
  }
}
