// Takes from one key on request. Writes the time of each admitted take to a file before doing anything else.
import cluster, { type Worker } from 'node:cluster'
import { openSync, writeSync } from 'node:fs'
import { clusterBackend } from '@sluice/fleet'
import { algorithms, type Charge } from '@sluice/limiter-core/backend'

/** A command for a worker. */
export type Order = { readonly burst: number } | { readonly streamMs: number } | { readonly leave: true }

const { WORKER_FILE, WORKER_POLICY } = process.env
const policy = JSON.parse(WORKER_POLICY as string)
const compiled = algorithms[policy.algorithm as keyof typeof algorithms].compile(policy)
const file = openSync(WORKER_FILE as string, 'a')
const listeners = process.listenerCount('message')
const backend = clusterBackend()
const charge: Charge = { key: 'shared', counter: backend.open(compiled, 'spenders/one@1'), cost: 1 }
const self = cluster.worker as Worker

/** Retries if the primary or this process was stalled for longer than a request waits. */
async function take(): Promise<void> {
  for (;;) {
    try {
      const [verdict] = (await backend.takeAll([charge])).verdicts
      if (verdict.allowed) writeSync(file, `${Date.now()}\n`)
      return
    } catch (error) {
      if ((error as { code?: string }).code !== 'LATE') throw error
    }
  }
}

async function stream(untilMs: number): Promise<void> {
  while (Date.now() < untilMs) {
    await take()
    await new Promise((resolve) => setTimeout(resolve, Math.random() < 0.3 ? 3 : 0))
  }
}

async function obey(order: Order): Promise<void> {
  if ('leave' in order) {
    self.disconnect()
    return
  }
  if ('burst' in order) await Promise.all(Array.from({ length: order.burst }, () => take()))
  else await Promise.all(Array.from({ length: 8 }, () => stream(Date.now() + order.streamMs)))
  process.send?.({ done: true, listeners: process.listenerCount('message') - listeners })
}

self.on('message', (message: { order?: Order }) => {
  if (message?.order) obey(message.order)
})
process.send?.({ ready: true })
