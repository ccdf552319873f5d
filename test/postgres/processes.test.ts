import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Policy } from '@sluice/limiter-core'
import { postgresBackend } from '@sluice/postgres'
import { openedCounter } from '@sluice/testkit'
import type { Pool } from 'pg'
import { type PostgresServer, startPostgres } from '../services/postgres/postgres-server.ts'
import { type ChildNode, startNode } from '../services/processes/child-node.ts'

type Taking = typeof import('./children/taking.ts')

const PROCESSES = 4
const HOUR_MS = 3_600_000

let server: PostgresServer
let pool: Pool
let children: ChildNode<Taking>[] = []

beforeAll(async () => {
  server = await startPostgres({ fsync: false })
  pool = server.pool()
  children = Array.from({ length: PROCESSES }, () => startNode<Taking>('postgres/children/taking.ts'))
  await Promise.all(children.map((child) => child.call('open', server.port)))
})

afterAll(async () => {
  await Promise.all(children.map((child) => child.stop()))
  await server.stop()
})

async function remaining(policy: Policy, key: string): Promise<number> {
  const backend = postgresBackend(pool)
  const { verdicts } = await backend.peekAll([{ key, counter: openedCounter(backend, 'processes', policy), cost: 0 }])
  return verdicts[0].remaining
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

describe('four processes', () => {
  const shapes: readonly Policy[] = [
    { name: 'fixed', algorithm: 'fixed-window', limit: 1_000, windowMs: HOUR_MS },
    { name: 'sliding', algorithm: 'sliding-window', limit: 1_000, windowMs: HOUR_MS, slices: 60 },
  ]

  test.each(shapes)('admit exactly 1,000 of 4 × 5,000 takes: $name', async (policy) => {
    const admitted = await Promise.all(children.map((child) => child.call('takeMany', policy, 'one', 5_000, 100)))
    expect(sum(admitted)).toBe(1_000)
    expect(await remaining(policy, 'one')).toBe(0)
  })

  test('charge all policies of a request or none, and never deadlock when they take keys in different orders', async () => {
    const policies = ['a', 'b', 'c'].map(
      (name): Policy => ({ name, algorithm: 'fixed-window', limit: name === 'b' ? 50 : 1_000, windowMs: HOUR_MS }),
    )
    const charged = policies.flatMap((policy) => ['x', 'y'].map((key) => [policy, key] as const))
    const admitted = await Promise.all(
      children.map((child, index) => {
        const turned = [...charged.slice(index), ...charged.slice(0, index)]
        return child.call('takeAllMany', index % 2 === 0 ? turned : turned.reverse(), 200, 20)
      }),
    )
    expect(sum(admitted)).toBe(50)
    for (const [policy, key] of charged) expect(await remaining(policy, key)).toBe(policy.limit - 50)
    const { rows } = await pool.query('select deadlocks::int from pg_stat_database where datname = current_database()')
    expect(rows[0].deadlocks).toBe(0)
  })
})
