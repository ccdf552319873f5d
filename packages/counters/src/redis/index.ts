export type {
  BatchReceipt,
  CounterDeltas,
  CounterReading,
  CounterReceipt,
  Counters,
  IncrementOptions,
  Metric,
  MetricSource,
  ReadManyOptions,
  ReadOptions,
} from '@sluice/limiter-core'
export { type RedisCountersOptions, redisCounters } from './redis-counters.ts'
