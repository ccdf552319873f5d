export { type GossipBackend, type GossipBackendOptions, gossipBackend } from './gossip-backend.ts'
export { type GossipChannel, type GossipChannelOptions, gossipChannel } from './gossip-channel.ts'
export {
  type GossipCounters,
  type GossipCountersOptions,
  type GossipIncrementOptions,
  gossipCounters,
} from './gossip-counters.ts'
export { createGossip, type GossipNode, type GossipOptions } from './gossip-node.ts'
export type { GossipPeer } from './gossip-peer.ts'
export type { GossipPeers } from './peer-list.ts'
