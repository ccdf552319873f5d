import type {
  BatchReceipt,
  CounterDeltas,
  CounterReading,
  CounterReceipt,
  Counters,
  IncrementOptions,
  ReadManyOptions,
  ReadOptions,
} from '@sluice/fleet/backend'
import { checkDelta, foldedDeltas } from './counter-delta.ts'
import { checkId } from './counter-id.ts'

/** Base class of counters that validate and fold all increments into one `count` call per batch. */
export abstract class AmountCounters implements Counters {
  async increment(id: string, delta = 1, options: IncrementOptions = {}): Promise<CounterReceipt> {
    checkId(id)
    checkDelta(delta)
    const { values, durable, counted } = await this.count(new Map([[id, delta]]), options)
    return { value: values.get(id) ?? 0, durable, counted }
  }

  async incrementMany(deltas: CounterDeltas, options: IncrementOptions = {}): Promise<BatchReceipt> {
    return this.count(foldedDeltas(deltas), options)
  }

  async reset(id: string): Promise<void> {
    checkId(id)
    await this.clear(id, false)
  }

  async delete(id: string): Promise<void> {
    checkId(id)
    await this.clear(id, true)
  }

  abstract read(id: string, options?: ReadOptions): Promise<CounterReading>
  abstract readMany(prefix: string, options?: ReadManyOptions): Promise<readonly CounterReading[]>
  abstract aggregate(prefix: string, kind?: 'sum'): Promise<number>
  abstract flush(): Promise<void>
  abstract close(): Promise<void>

  /** Counts validated deltas by id, all of them or none. */
  abstract count(amounts: ReadonlyMap<string, number>, options: IncrementOptions): Promise<BatchReceipt>
  protected abstract clear(id: string, deleted: boolean): Promise<void>
}
