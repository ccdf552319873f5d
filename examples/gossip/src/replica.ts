import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGossip, gossipBackend, gossipChannel, gossipCounters } from '@sluice/gossip'
import { createLimiter } from '@sluice/limiter-core'
import { HyperLogLog } from '@sluice/sketches'
import { shareSketch } from '@sluice/sketches/fleet'

/** One process of the fleet. Its parent sends it the addresses of the others, commands, and when to stop. */
interface Message {
  readonly meet?: readonly string[]
  readonly requests?: number
  readonly report?: true
}

// the same in all processes
const secret = process.env.FLEET_SECRET
let peers: readonly string[] = []
const node = createGossip({ peers: () => peers, secret })
const server = createServer((req, res) => node.handler(req, res))
await once(server.listen(0, '127.0.0.1'), 'listening')

const backend = gossipBackend(node, { nodes: 5 })
const limiter = createLimiter({ policies: [{ name: 'team', limit: Number(process.env.LIMIT), window: '1m', backend }] })
const visitors = shareSketch(gossipChannel(node), {
  topic: 'visitors',
  make: () => new HyperLogLog({ seed: secret }),
  read: (bytes) => HyperLogLog.fromBytes(bytes, { seed: secret }),
  tickMs: 200,
})
const calls = gossipCounters(node)
let admitted = 0

/** Values that this process knows about the fleet, by name. */
const known: Readonly<Record<string, () => number | Promise<number>>> = {
  'admitted here': () => admitted,
  'left of the limit': async () => (await limiter.peek('blue')).binding.remaining,
  'calls of all': async () => (await calls.read('team:blue')).value,
  'visitors of all': () => Math.round(visitors.fleet.count()),
}

process.on('message', async ({ meet, requests, report }: Message) => {
  if (meet) peers = meet
  if (requests) process.send?.(await take(requests))
  if (report) process.send?.(await reported())
})
process.on('disconnect', async () => {
  // the last process has no other process to notify
  await calls.close().catch(() => {})
  await visitors.close()
  await backend.close?.()
  await node.close()
  process.exit(0)
})
process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}/gossip`)

async function take(requests: number): Promise<'done'> {
  for (let request = 0; request < requests; request++) {
    visitors.own.add(`${process.pid}-${request}`)
    if ((await limiter.take('blue')).allowed) admitted++
    await calls.increment('team:blue')
    await new Promise((resolve) => setTimeout(resolve, 40))
  }
  return 'done'
}

async function reported(): Promise<Readonly<Record<string, number>>> {
  const values = await Promise.all(Object.entries(known).map(async ([name, read]) => [name, await read()] as const))
  return Object.fromEntries(values)
}
