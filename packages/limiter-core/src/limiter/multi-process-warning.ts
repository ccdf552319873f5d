import type { Cluster } from 'node:cluster'
import { LimiterWarnings } from '../observers/limiter-warnings.ts'
import { builtIn, nodeProcess } from '../process/built-in.ts'
import type { OpenPolicy } from './open-policy.ts'

/** Warns if a limiter counts in memory while several processes run: in a worker of `node:cluster` or under pm2. */
export function warnIfOneOfSeveralProcesses(policies: readonly OpenPolicy[]): void {
  const { NODE_APP_INSTANCE, pm_id } = nodeProcess?.env ?? {}
  const pm2 = NODE_APP_INSTANCE !== undefined || pm_id !== undefined
  const worker = isClusterWorker()
  if (!worker && !pm2) return
  const here = policies.filter(({ home, mode }) => home.perProcess && mode !== 'off')
  if (here.length === 0) return
  const where = worker ? 'a worker of node:cluster' : 'a process of pm2'
  new LimiterWarnings(() => [...new Set(here.map(({ policy }) => policy.name))]).once(
    'SLUICE_MEMORY_IN_CLUSTER',
    () => `it counts in the memory of ${where}: each process counts separately, and N processes admit up to N limits`,
  )
}

/** Loads `node:cluster`, which loads sockets, only if this process has an IPC channel, as all workers do. */
function isClusterWorker(): boolean {
  if (nodeProcess?.send === undefined) return false
  // the type is that of the module namespace, but the value is its default export
  const cluster = builtIn('node:cluster') as Cluster | undefined
  return cluster?.isWorker === true
}
