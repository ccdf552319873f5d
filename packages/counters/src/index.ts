export type {
  BatchReceipt,
  CounterDeltas,
  CounterReading,
  CounterReceipt,
  Counters,
  IncrementOptions,
  ReadManyOptions,
  ReadOptions,
} from '@sluice/limiter-core'
export { type CountersOptions, createCounters } from './create-counters.ts'
export type * from './ledger/counter-ledger.ts'
export { MemoryLedger } from './ledger/memory-ledger.ts'
export { type MeteredCountersOptions, meteredCounters } from './metered-counters.ts'
