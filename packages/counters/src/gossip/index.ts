export { type GossipBackend, type GossipBackendOptions, gossipBackend } from './gossip-backend.ts'
export { type GossipChannel, type GossipChannelOptions, gossipChannel } from './gossip-channel.ts'
export { createGossip, type GossipNode, type GossipOptions, type GossipPeers } from './gossip-node.ts'
export type { GossipPeer } from './gossip-peer.ts'
