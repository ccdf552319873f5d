import cluster from 'node:cluster'
import type { Backend } from '../contracts.ts'
import { warnOnce } from '../warn-once.ts'

/** Warns once where a limiter counts in the memory of a process that is one of several with the same work. */
export function warnWhereOneOfSeveral({ perProcess }: Backend): void {
  if (!perProcess) return
  const { NODE_APP_INSTANCE, pm_id } = process.env
  const pm2 = NODE_APP_INSTANCE !== undefined || pm_id !== undefined
  if (!cluster.isWorker && !pm2) return
  const where = cluster.isWorker ? 'a worker of node:cluster' : 'a process of pm2'
  warnOnce(
    'SLUICE_MEMORY_IN_CLUSTER',
    `a limiter counts in the memory of ${where}: each process counts by itself, and N of them admit up to N limits`,
  )
}
