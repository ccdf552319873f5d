export type { Change, Row, RowStore, RowVersion, RowWriteOptions } from '@sluice/fleet/backend'
export type { LeaseGrant, LeaseLedger, LeaseRequest, LeaseTerms, MemoryLedger } from '@sluice/fleet/leases'
export type { MemorySyncLedger, ReportedTakes, SyncAnswer, SyncBatch, SyncLedger } from '@sluice/fleet/sync'
export type {
  AlgorithmName,
  Answer,
  Backend,
  Charge,
  CompiledPolicy,
  CountEstimate,
  CountedKey,
  Counter,
  Decision,
  HeldUnits,
  Interruption,
  MaybePromise,
  Moment,
  ObservedCap,
  ObservedRequest,
  Observer,
  Policy,
  PolicyVerdict,
  Verdict,
} from '@sluice/limiter-core'

export {
  type LayeredDescription,
  type LayeredRoute,
  type LayerSpec,
  type MakeLayeredApp,
  nativeLayer,
} from './adapter/layers/layered-description.ts'
export type * from './adapter/stage/app-description.ts'
export { type HookBridge, nativeOptions } from './adapter/stage/native-options.ts'
export { onceEach } from './adapter/stage/once-each.ts'
export { type ListItem, parseList } from './adapter/stage/structured-list.ts'
export { until } from './adapter/stage/until.ts'
export { Warnings } from './adapter/stage/warnings.ts'
export { type WatchedRequest, Watcher } from './adapter/stage/watcher.ts'
export { type AdapterContractOptions, adapterContract } from './adapter-contract.ts'
export type { BanFleet, MakeBanFleet } from './bans/ban-bench.ts'
export { banContract } from './bans/ban-contract.ts'
export { bypassContract } from './bypass/bypass-contract.ts'
export type { BypassAnswer, BypassContractOptions, LimitedApp } from './bypass/limited-app.ts'
export { algorithmContract } from './contracts/algorithm-contract.ts'
export { type BackendContractOptions, backendContract, type MakeBackend } from './contracts/backend-contract.ts'
export { type ChannelFleet, channelContract } from './contracts/channel-contract.ts'
export { type Command, randomCommand } from './contracts/commands.ts'
export { contractPolicies } from './contracts/contract-policies.ts'
export {
  type CounterContractOptions,
  type CounterFleet,
  counterContract,
  type MakeCounterFleet,
} from './contracts/counter-contract.ts'
export { type HoldContractOptions, holdContract } from './contracts/hold-contract.ts'
export { hostileKeys } from './contracts/hostile-keys.ts'
export {
  type InflightContractOptions,
  inflightContract,
  type MadeInflightOptions,
  type MakeInflightLimiter,
} from './contracts/inflight-contract.ts'
export { openedCounter } from './contracts/opened-counters.ts'
export { PolicyDriver } from './contracts/policy-driver.ts'
export {
  type MakeRowStore,
  type RowStoreContractOptions,
  rowStoreContract,
} from './contracts/rows/row-store-contract.ts'
export { assertSameVerdict } from './contracts/same-verdict.ts'
export { failingBackend } from './failing-backend.ts'
export { FakeClock, type FakeClockOptions } from './fake-clock.ts'
export { LeasedFleet, type LeasedProcess, type LeaseNetwork } from './fleet/leased-fleet.ts'
export { NodeClock } from './fleet/node-clock.ts'
export {
  effectiveLevel,
  epochOf,
  type PublishedAnswer,
  PublishedLimiter,
  type PublishedOptions,
  PublishedStore,
  syncIntervalMs,
  tierOf,
  weightedCount,
} from './fleet/published-limiter.ts'
export { sentAnswer, sentBatch } from './fleet/sync-message.ts'
export { type FleetNode, type Network, SyncedFleet, type SyncedFleetOptions } from './fleet/synced-fleet.ts'
export { FrontCounters } from './front-counters.ts'
export { ReferenceBackend } from './models/reference-backend.ts'
export { type ReferenceModel, referenceModel } from './models/reference-model.ts'
export { EventLoopModel } from './overload/event-loop-model.ts'
export { type EventLoopRunOptions, type LoopRequest, type LoopSource, runEventLoop } from './overload/event-loop-run.ts'
export { BIMODAL, DRIFTING, type OverloadModel, playModel } from './overload/overload-model.ts'
export {
  type LoadSource,
  type OverloadResult,
  type OverloadRunOptions,
  quantileOf,
  runOverload,
  type SourceResult,
} from './overload/overload-run.ts'
export { WorkerModel } from './overload/worker-model.ts'
export { overridesContract } from './overrides-contract.ts'
export { baseSeed, eachSeed, numberOfRuns, type SeededRandom, seededRandom } from './seeded-random.ts'
export type { TestRunner } from './suite-runner.ts'
export { type Arrival, burstGaps, type Draw, poissonGaps, traffic, uniformKeys, zipfKeys } from './traffic.ts'
