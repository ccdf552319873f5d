import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGossip, gossipBackend } from '@sluice/gossip'
import { createLimiter, type Decision, type Limiter } from '@sluice/limiter-core'

let peers: readonly string[] = []
let limiter: Limiter<Decision>

/** Returns the address of this replica. */
export async function start(secret: string, limit: number): Promise<string> {
  const node = createGossip({ peers: () => peers, secret })
  const backend = gossipBackend(node)
  limiter = createLimiter({ name: 'api', limit, window: '1h', algorithm: 'fixed-window', backend })
  const server = createServer((req, res) => void node.handler(req, res))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/gossip`
}

export async function meet(addresses: readonly string[]): Promise<void> {
  peers = addresses
}

/** Takes `count` units in one turn of the event loop. Returns how many were admitted. */
export async function burst(key: string, count: number): Promise<number> {
  return Array.from({ length: count }, () => limiter.take(key)).filter(({ allowed }) => allowed).length
}

export async function left(key: string): Promise<number> {
  return limiter.peek(key).binding.remaining
}
