import type { Cluster } from 'node:cluster'
import { LimiterWarnings } from '../observers/limiter-warnings.ts'
import type { OpenPolicy } from './open-policy.ts'

/** Warns where a limiter counts in the memory of a process that is one of several with the same work. */
export function warnWhereOneOfSeveral(policies: readonly OpenPolicy[]): void {
  const { NODE_APP_INSTANCE, pm_id } = process.env
  const pm2 = NODE_APP_INSTANCE !== undefined || pm_id !== undefined
  const worker = isClusterWorker()
  if (!worker && !pm2) return
  const here = policies.filter(({ backend, mode }) => backend.perProcess && mode !== 'off')
  if (here.length === 0) return
  const where = worker ? 'a worker of node:cluster' : 'a process of pm2'
  new LimiterWarnings(() => [...new Set(here.map(({ policy }) => policy.name))]).once(
    'SLUICE_MEMORY_IN_CLUSTER',
    () => `it counts in the memory of ${where}: each process counts by itself, and N of them admit up to N limits`,
  )
}

/** Loads `node:cluster`, and with it sockets, only where its workers have their channel. */
function isClusterWorker(): boolean {
  if (process.send === undefined) return false
  // its types are those of an import, which has this object as its default
  const cluster = process.getBuiltinModule('node:cluster') as unknown as Cluster
  return cluster.isWorker
}
