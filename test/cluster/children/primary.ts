// A cluster of four workers that consume one key. Prints how many takes were admitted.
import cluster, { type Worker } from 'node:cluster'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clusterBackend } from '@sluice/fleet'
import type { Policy } from '@sluice/limiter-core'
import { until } from '@sluice/testkit'
import { Spends } from '../../leases/spends.ts'
import type { Order } from './worker.ts'

/** What the scenario measured. */
export interface ClusterResult {
  readonly total: number
  readonly worst: number
  /** Exit codes of the workers that were asked to exit. */
  readonly left: readonly (number | null)[]
  /** Number of listeners that the backend added to the `process` object of a worker. */
  readonly listeners: number
}

const scenario = process.argv.at(-1)
const folder = mkdtempSync(join(tmpdir(), 'sluice-cluster-'))
const policy: Policy = {
  name: 'shared',
  algorithm: 'sliding-window',
  slices: 10,
  ...(scenario === 'burst' ? { limit: 1_000, windowMs: 60_000 } : { limit: 500, windowMs: 1_000 }),
}
const files: string[] = []
let listeners = 0

// A worker is a file, and an ES module if it is one of ours, so it is a file with one line that requires the script.
const WORKER = join(import.meta.dirname, 'worker.ts')
const HOOK = join(import.meta.dirname, '../../services/processes/typescript-hook.cjs')
cluster.setupPrimary({
  exec: WORKER,
  execArgv: ['--conditions=@sluice/source', '-r', HOOK, '-e', `require(${JSON.stringify(WORKER)})`],
})

function heard(worker: Worker, word: 'ready' | 'done'): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message) => {
      listeners += message?.listeners ?? 0
      if (message?.[word]) resolve()
    })
    worker.once('exit', (code) => reject(new Error(`a worker ended with ${code} before it was ${word}`)))
  })
}

async function start(): Promise<Worker> {
  const file = join(folder, String(files.length))
  files.push(file)
  const worker = cluster.fork({ WORKER_FILE: file, WORKER_POLICY: JSON.stringify(policy) })
  await heard(worker, 'ready')
  return worker
}

function order(worker: Worker, given: Order): Promise<void> {
  const done = heard(worker, 'done')
  worker.send({ order: given })
  return done
}

function spends(): Spends {
  const all = new Spends()
  const times = files.flatMap((file) => readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number))
  for (const time of times.sort((a, b) => a - b)) all.add(time, 1)
  return all
}

async function leave(worker: Worker): Promise<number | null> {
  const left = new Promise<number | null>((resolve) => worker.once('exit', resolve))
  worker.send({ order: { leave: true } })
  return left
}

async function run(): Promise<void> {
  const workers = await Promise.all([1, 2, 3, 4].map(start))
  if (scenario === 'burst') {
    const done = workers.map((worker) => order(worker, { burst: 5_000 }))
    // the workers send requests before the primary listens
    clusterBackend()
    await Promise.all(done)
  } else {
    clusterBackend()
    const [victim, ...others] = workers
    const done = [...others.map((worker) => order(worker, { streamMs: 2_500 }))]
    // this worker is killed before it finishes
    order(victim, { streamMs: 2_500 }).catch(() => {})
    await until(() => spends().total > 650, { timeoutMs: 20_000 })
    victim.process.kill('SIGKILL')
    const heir = await start()
    await Promise.all([...done, order(heir, { streamMs: 2_000 })])
  }
  const { total } = spends()
  const worst = spends().worstWindow(policy.windowMs - 1)
  const living = Object.values(cluster.workers ?? {}).filter((worker): worker is Worker => !worker?.isDead())
  const left = await Promise.all(living.map(leave))
  rmSync(folder, { recursive: true, force: true })
  process.stdout.write(`${JSON.stringify({ total, worst, left, listeners } satisfies ClusterResult)}\n`)
}

run().then(() => process.exit(0))
