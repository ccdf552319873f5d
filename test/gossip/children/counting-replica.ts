import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGossip, type GossipCounters, gossipCounters } from '@sluice/gossip'
import { systemClock } from '@sluice/limiter-core/backend'

let peers: readonly string[] = []
let counters: GossipCounters | undefined

/** Returns the address of this replica. */
export async function start(secret: string): Promise<string> {
  const node = createGossip({ peers: () => peers, secret })
  counters = gossipCounters(node)
  const server = createServer((req, res) => void node.handler(req, res))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/gossip`
}

export async function meet(addresses: readonly string[]): Promise<void> {
  peers = addresses
}

/** Resolves when the unit was counted, in epoch ms. */
export async function count(id: string, units: number, minReplicas: number): Promise<number> {
  const now = Date.now()
  await counters?.increment(id, units, { minReplicas })
  return now
}

export async function value(id: string): Promise<number | undefined> {
  return (await counters?.read(id))?.value
}

/** Resolves when the value was reached, in epoch ms. */
export async function reached(id: string, expected: number): Promise<number> {
  while ((await value(id)) !== expected) await new Promise<void>((resolve) => systemClock.after(2, resolve))
  return Date.now()
}
