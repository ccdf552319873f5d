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
export type { Metric, MetricSource, RecordStore } from '@sluice/limiter-core'
export type { HyperLogLog, SketchKey, TDigest } from '@sluice/sketches'
export { type CountersOptions, createCounters } from './create-counters.ts'
export { DigestCounter, type DigestCounterOptions } from './kinds/digest-counter.ts'
export { GCounter, type GCounterState } from './kinds/g-counter.ts'
export { Leaderboard } from './kinds/leaderboard.ts'
export { mergeTop } from './kinds/merge-top.ts'
export { PNCounter, type PNCounterState } from './kinds/pn-counter.ts'
export type { LeaderboardEntry } from './kinds/ranked-entries.ts'
export type { ReplicaPairs } from './kinds/replica-amounts.ts'
export { type ShardedCountersOptions, shardedCounters } from './kinds/sharded-counters.ts'
export { UniqueCounter, type UniqueCounterOptions } from './kinds/unique-counter.ts'
export type { HourlyOptions } from './kinds/utc-hours.ts'
export { WindowedCounter, type WindowedCounterOptions } from './kinds/windowed-counter.ts'
export { type WindowedCounters, type WindowedCountersOptions, windowedCounters } from './kinds/windowed-counters.ts'
export type * from './ledger/counter-ledger.ts'
export { MemoryLedger } from './ledger/memory-ledger.ts'
export type * from './ledger/sketch-table.ts'
export type { ListPage } from './list-page.ts'
export { type MeteredCounters, type MeteredCountersOptions, meteredCounters } from './metered-counters.ts'
export type { HotId } from './metrics/hot-ids.ts'
export { type OwnedCountersOptions, ownedCounters } from './owners/owned-counters.ts'
export type { OwnedCounters } from './owners/routed-counters.ts'
export { type CounterClientOptions, counterClient } from './service/client/counter-client.ts'
export { type CounterService, type CounterServiceOptions, counterService } from './service/counter-service.ts'
export { counterOpenApi } from './service/open-api/counter-open-api.ts'
export type { OpenApiPart } from './service/open-api/counter-schemas.ts'
export type { CounterScope, CounterServiceToken } from './service/service-access.ts'
export type { CounterServiceLimits } from './service/service-limits.ts'
export { type DigestCounters, type DigestCountersOptions, digestCounters } from './sketches/digest-counters.ts'
export type { DayReadOptions, HourReadOptions, SketchAddOptions, SketchReceipt } from './sketches/sketch-options.ts'
export { type UniqueCounters, type UniqueCountersOptions, uniqueCounters } from './sketches/unique-counters.ts'
