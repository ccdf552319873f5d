import cluster from 'node:cluster'
import type { Lane } from '../lanes.ts'
import { LimiterWarnings } from '../limiter-warnings.ts'

/** Warns where a limiter counts in the memory of a process that is one of several with the same work. */
export function warnWhereOneOfSeveral(lanes: readonly Lane[]): void {
  const { NODE_APP_INSTANCE, pm_id } = process.env
  const pm2 = NODE_APP_INSTANCE !== undefined || pm_id !== undefined
  if (!cluster.isWorker && !pm2) return
  const here = lanes.filter(({ backend, mode }) => backend.perProcess && mode !== 'off')
  if (here.length === 0) return
  const where = cluster.isWorker ? 'a worker of node:cluster' : 'a process of pm2'
  new LimiterWarnings(() => [...new Set(here.map(({ step }) => step.policy.name))]).once(
    'SLUICE_MEMORY_IN_CLUSTER',
    () => `it counts in the memory of ${where}: each process counts by itself, and N of them admit up to N limits`,
  )
}
