export type {
  BatchReceipt,
  CounterDeltas,
  CounterReading,
  CounterReceipt,
  Counters,
  IncrementOptions,
  ReadManyOptions,
  ReadOptions,
} from '@sluice/fleet/backend'
export type { Metric, MetricSource } from '@sluice/limiter-core'
export { type RedisCountersOptions, redisCounters } from './redis-counters.ts'
