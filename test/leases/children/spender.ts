// Consumes one key as fast as it can. Writes the time of every admitted take to a file before doing anything else, so
// that the record outlives the process.
import { openSync, writeSync } from 'node:fs'
import { algorithms, type Backend, type Counter, type Policy } from '@sluice/limiter-core/backend'
import { leasedBackend } from '@sluice/redis'
import { Redis } from 'ioredis'

export interface SpenderTask {
  readonly policy: Policy
  readonly file: string
  readonly leaseMs: number
  /** Port of the Redis server. */
  readonly port: number
  readonly prefix: string
  /** Take all at once, or eight at a time for the given number of milliseconds. */
  readonly burst?: number
  readonly forMs?: number
}

const task: SpenderTask = JSON.parse(process.env.SPENDER_TASK as string)
const compiled = algorithms[task.policy.algorithm].compile(task.policy)
const file = openSync(task.file, 'a')

async function backendOf({ port, prefix, leaseMs }: SpenderTask): Promise<Backend> {
  const client = new Redis(port)
  await new Promise((resolve) => client.once('ready', resolve))
  return leasedBackend(client, { prefix, leaseMs })
}

async function take(counter: Counter): Promise<void> {
  try {
    const { allowed } = await counter.take('shared', 1)
    if (allowed) writeSync(file, `${Date.now()}\n`)
  } catch (error) {
    // not counted: on a busy machine, a call may reach Redis after its deadline
    if ((error as Error & { code?: string }).code !== 'LATE') throw error
  }
}

async function stream(counter: Counter, untilMs: number): Promise<void> {
  while (Date.now() < untilMs) {
    await take(counter)
    await new Promise((resolve) => setTimeout(resolve, Math.random() < 0.3 ? 3 : 0))
  }
}

async function run(): Promise<void> {
  const counter = (await backendOf(task)).open(compiled, 'spenders/one@1')
  process.send?.('ready')
  await new Promise((resolve) => process.once('message', resolve))
  if (task.burst !== undefined) await Promise.all(Array.from({ length: task.burst }, () => take(counter)))
  else {
    const untilMs = Date.now() + (task.forMs ?? 0)
    await Promise.all(Array.from({ length: 8 }, () => stream(counter, untilMs)))
  }
  process.send?.('done')
}

run()
