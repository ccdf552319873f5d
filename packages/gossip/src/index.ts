export type {
  BatchReceipt,
  CounterReading,
  CounterReceipt,
  Counters,
  ReadManyOptions,
  ReadOptions,
} from '@sluice/fleet/backend'
export type {
  AlgorithmName,
  Answer,
  Charge,
  Clock,
  CompiledPolicy,
  CountEstimate,
  CountedKey,
  Counter,
  HeldUnits,
  Interruption,
  MaybePromise,
  Metric,
  Moment,
  Observer,
} from '@sluice/limiter-core'
export type { Observers } from '@sluice/limiter-core/backend'
export {
  type GossipCounters,
  type GossipCountersOptions,
  type GossipIncrementOptions,
  gossipCounters,
} from './counters/gossip-counters.ts'
export type { GossipPeer } from './exchange/gossip-peer.ts'
export type { GossipPeers } from './exchange/peer-list.ts'
export { type GossipChannel, type GossipChannelOptions, gossipChannel } from './gossip-channel.ts'
export { type GossipBackend, type GossipBackendOptions, gossipBackend } from './limits/gossip-backend.ts'
export type { LogItem, ReplicaLog } from './log/replica-log.ts'
export type { ReplicaTable } from './log/replica-table.ts'
export { createGossip, type GossipOptions } from './node/create-gossip.ts'
export type { GossipNode } from './node/gossip-node.ts'
export type { GossipTopic } from './node/gossip-topics.ts'
