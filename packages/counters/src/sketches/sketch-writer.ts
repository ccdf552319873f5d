import { KEEP_ALIVE, SluiceError } from '@sluice/limiter-core/backend'
import type { Sketch } from '@sluice/sketches'
import type { LedgerSettings } from '../counter-options.ts'
import { BatchLoop } from '../ledger/batch-loop.ts'
import type { NewSketchRow, SketchBatch, SketchTable } from '../ledger/sketch-table.ts'
import { unavailableError } from '../unavailable.ts'
import type { RowMerger } from './row-merger.ts'
import { type SketchFormat, storedBytes } from './sketch-format.ts'

export interface SketchWriterOptions<Kind extends Sketch<Kind>, Value> extends LedgerSettings {
  readonly table: SketchTable
  readonly format: SketchFormat<Kind, Value>
  readonly merger: RowMerger<Kind, Value>
  /** Maximum number of rows in a batch. */
  readonly maxBatch: number
  /** Maximum number of sketches that wait for the ledger. */
  readonly maxWaiting: number
}

/** Sketch of one id and hour that is not in a batch yet. */
interface PendingSketch<Kind> {
  readonly id: string
  readonly hour: number
  readonly sketch: Kind
  /** Position in the order of all waiting sketches. */
  readonly turn: number
  /** Callbacks of the calls that wait until the sketch is applied. */
  readonly waiters: Set<() => void>
}

interface AddedValue<Value> {
  readonly id: string
  readonly hour: number
  readonly value: Value
}

/** Batch that is sent unchanged until the ledger replies. */
interface Shipment {
  readonly batch: SketchBatch
  readonly turn: number
  readonly waiters: readonly Set<() => void>[]
}

/** Size in bytes at which a batch takes no further rows. */
const FULL_BYTES = 2 ** 20

/**
 * Sends what a process counted to the ledger: a small sketch for each id and hour, in numbered batches. One batch is
 * sent at a time, until the ledger replies. Sketches are sent after `flushMs`, or earlier if a call waits or they fill
 * a batch.
 */
export class SketchWriter<Kind extends Sketch<Kind>, Value> {
  readonly #options: SketchWriterOptions<Kind, Value>
  readonly #loop: BatchLoop<Shipment>
  readonly #pending = new Map<string, PendingSketch<Kind>>()
  #number = 0
  #turn = 0
  /** Number of calls that wait until a sketch is applied. */
  #waiters = 0

  constructor(options: SketchWriterOptions<Kind, Value>) {
    this.#options = options
    const { name, clock, observers, flushMs, durable } = options
    this.#loop = new BatchLoop({
      name,
      clock,
      observers,
      flushMs,
      keepsAlive: durable,
      next: () => this.#compose(),
      send: (shipment) => this.#send(shipment),
      isEmpty: () => this.#pending.size === 0,
      isUrgent: () => this.#waiters > 0 || this.#pending.size >= options.maxBatch,
      lastTurn: () => this.#turn,
      oldestTurn: () => this.#oldest?.turn ?? Number.POSITIVE_INFINITY,
    })
  }

  /** Counts a value. Throws the errors of the format and `SLUICE_COUNTERS_FULL`; nothing is counted then. */
  add(added: AddedValue<Value>): void {
    this.#put(added)
    this.#loop.schedule()
  }

  /**
   * Counts a value and resolves when the ledger has it. Rejects with `SLUICE_COUNTERS_UNAVAILABLE` after `waitMs`; the
   * value may still be counted then.
   */
  async addDurable(added: AddedValue<Value>): Promise<void> {
    const { waiters } = this.#put(added)
    const applied = this.#waitIn(waiters)
    this.#loop.schedule()
    await applied
  }

  /** Resolves when everything added so far is applied. Rejects if an attempt fails; later attempts follow. */
  flush(): Promise<void> {
    return this.#loop.flush()
  }

  /** Flushes, with retries for up to `waitMs`, and closes. Rejects if something is left by then. */
  end(): Promise<void> {
    return this.#loop.end(this.#options.waitMs)
  }

  #put({ id, hour, value }: AddedValue<Value>): PendingSketch<Kind> {
    const key = `${hour}/${id}`
    const known = this.#pending.get(key)
    const { format, maxWaiting } = this.#options
    if (!known && this.#pending.size + (this.#loop.current?.batch.rows.length ?? 0) >= maxWaiting) {
      throw new SluiceError(
        'SLUICE_COUNTERS_FULL',
        `add: expected at most ${maxWaiting} ids that wait for the ledger, received more`,
      )
    }
    const pending = known ?? { id, hour, sketch: format.make(), turn: ++this.#turn, waiters: new Set() }
    format.count(pending.sketch, value)
    if (!known) this.#pending.set(key, pending)
    return pending
  }

  #waitIn(waiters: Set<() => void>): Promise<void> {
    const { clock, waitMs } = this.#options
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiters--
        waiters.delete(applied)
        cancel()
      }
      const applied = (): void => {
        leave()
        resolve()
      }
      const late = (): void => {
        leave()
        reject(unavailableError(`add: the ledger did not reply within ${waitMs} ms; the value may still be counted`))
      }
      const cancel = clock.after(waitMs, late, KEEP_ALIVE)
      this.#waiters++
      waiters.add(applied)
    })
  }

  /** The oldest sketch that is not in a batch. */
  get #oldest(): PendingSketch<Kind> | undefined {
    const [oldest] = this.#pending.values()
    return oldest
  }

  async #send({ batch, waiters }: Shipment): Promise<() => void> {
    const { table, merger } = this.#options
    await table.append(batch)
    return () => {
      for (const callbacks of waiters) for (const applied of callbacks) applied()
      merger.rowsAdded(batch.rows)
    }
  }

  /** Creates a batch of waiting sketches, oldest first. */
  #compose(): Shipment | undefined {
    const { format, maxBatch } = this.#options
    const oldest = this.#oldest
    if (!oldest) return undefined
    const rows: NewSketchRow[] = []
    const waiters: Set<() => void>[] = []
    let bytes = 0
    for (const [key, pending] of this.#pending) {
      if (rows.length >= maxBatch || bytes >= FULL_BYTES) break
      const row = { id: pending.id, firstHour: pending.hour, hours: 1, bytes: storedBytes(format, pending.sketch) }
      bytes += row.bytes.length
      rows.push(row)
      waiters.push(pending.waiters)
      this.#pending.delete(key)
    }
    return { batch: { writer: this.#loop.writer, number: ++this.#number, rows }, turn: oldest.turn, waiters }
  }
}
