export type { LeaseGrant, LeaseLedger, LeaseRequest } from '@sluice/fleet/leases'
export type {
  ReceivedCounts,
  ReportedTakes,
  SyncAnswer,
  SyncBatch,
  SyncLedger,
  SyncOptions,
} from '@sluice/fleet/sync'
export type {
  AcquireOptions,
  AlgorithmName,
  Answer,
  Backend,
  Cap,
  Charge,
  CompiledPolicy,
  CountEstimate,
  CountedKey,
  Counter,
  Denial,
  Duration,
  HeldUnits,
  InflightBackend,
  Interruption,
  LimitOverrides,
  MaybePromise,
  Metric,
  Moment,
  Observer,
  Permit,
  PublishOptions,
  RecordStore,
  Script,
  ScriptRunner,
} from '@sluice/limiter-core'
export type { SharedChannelOptions } from './channel/channel-options.ts'
export { RedisChannel, type RedisChannelOptions, redisChannel } from './channel/redis-channel.ts'
export { RedisSums, type RedisSumsOptions, redisSums } from './channel/redis-sums.ts'
export { type CreateRedisOptions, createRedis } from './client/create-redis.ts'
export {
  type CreateRedisClusterOptions,
  createRedisCluster,
  type RedisClusterNode,
} from './client/create-redis-cluster.ts'
export { hashSlot } from './client/hash-slot.ts'
export type { IoRedisClient, RedisClusterClient, RedisConnection } from './client/redis-client.ts'
export { RedisFailure } from './client/redis-failure.ts'
export { type RedisBackendOptions, redisBackend } from './exact/redis-backend.ts'
export { type RedisInflightOptions, redisInflight } from './inflight/redis-inflight.ts'
export { type LeasedBackendOptions, leasedBackend, redisLeaseLedger } from './leases/leased-backend.ts'
export { type RedisRecordsOptions, redisRecords } from './records/redis-records.ts'
export type { UpstashRedisClient } from './rest/upstash-client.ts'
export type { ValkeyGlideClient } from './runners/glide-client.ts'
export type { NodeRedisClient } from './runners/node-redis-client.ts'
export type { RedisClient } from './runners/redis-client.ts'
export { isRedisClients, type RedisClients } from './runners/redis-clients.ts'
export { scriptRunner } from './runners/script-runner.ts'
export {
  redisSyncLedger,
  type SyncedBackend,
  type SyncedBackendOptions,
  syncedBackend,
} from './sync/synced-backend.ts'
export { type EnvironmentOptions, syncedOptionsFromEnv } from './sync/synced-options-from-env.ts'
export {
  type NamedRegisters,
  RedisUniqueStore,
  type RedisUniqueStoreOptions,
  redisUniqueStore,
} from './unique-days/redis-unique-store.ts'
