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
export { createGossip, type GossipOptions } from './node/create-gossip.ts'
export type { GossipNode } from './node/gossip-node.ts'
