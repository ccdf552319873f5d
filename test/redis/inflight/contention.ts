import type { Redis } from 'ioredis'
import { startNode } from '../../services/processes/child-node.ts'
import { total } from './fairness.ts'

type Contender = typeof import('./children/contender.ts')

export interface Contention {
  /** Number of tasks in each process. */
  readonly tasks: readonly number[]
  readonly limit: number
  readonly ms: number
  readonly holdMs: number
  /** Delay after which a denied task tries again. */
  readonly retryMs: number
}

export interface Division {
  /** Permits granted to each process. */
  readonly permits: readonly number[]
  readonly asks: number
  readonly calls: number
}

/** Measures how the tasks of real processes share the permits of one cap. */
export async function contend(url: string, client: Redis, { tasks, limit, ...work }: Contention): Promise<Division> {
  const processes = tasks.map(() => startNode<Contender>('redis/inflight/children/contender.ts'))
  try {
    await Promise.all(processes.map((one) => one.call('join', url, limit, { deadlineMs: 10_000, leaseMs: 60_000 })))
    await client.config('RESETSTAT')
    const ended = await Promise.all(processes.map((one, at) => one.call('contend', { ...work, tasks: tasks[at] })))
    const calls = /cmdstat_evalsha:calls=(\d+)/.exec(await client.info('commandstats'))
    return {
      permits: ended.map(({ permits }) => permits),
      asks: total(ended.map(({ asks }) => asks)),
      calls: Number(calls?.[1]),
    }
  } finally {
    await Promise.all(processes.map((one) => one.stop()))
  }
}
