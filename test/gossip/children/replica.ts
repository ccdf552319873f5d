import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGossip, type GossipChannel, gossipChannel } from '@sluice/gossip'

let peers: readonly string[] = []
let channel: GossipChannel | undefined
/** Receive time in epoch ms, by message. */
const receivedAt = new Map<string, number>()

/** Returns the address of this replica. */
export async function start(secret: string): Promise<string> {
  const node = createGossip({ peers: () => peers, secret })
  channel = gossipChannel(node)
  channel.subscribe('news', (bytes) => receivedAt.set(Buffer.from(bytes).toString(), Date.now()))
  const server = createServer((req, res) => void node.handler(req, res))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/gossip`
}

export async function meet(addresses: readonly string[]): Promise<void> {
  peers = addresses
}

export async function publish(text: string): Promise<number> {
  const now = Date.now()
  channel?.publish('news', Buffer.from(text))
  return now
}

export async function received(): Promise<ReadonlyMap<string, number>> {
  return receivedAt
}
