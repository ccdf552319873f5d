import { algorithms, type Charge, type Counter, type Policy } from '@sluice/limiter-core/backend'
import { type PostgresBackend, postgresBackend } from '@sluice/postgres'
import { Pool } from 'pg'

let pool: Pool
let backend: PostgresBackend
const counters = new Map<string, Counter>()

export async function open(port: number): Promise<void> {
  pool = new Pool({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres', max: 4 })
  backend = postgresBackend(pool)
  await backend.migrate()
}

export async function close(): Promise<void> {
  await backend.close?.()
  await pool.end()
}

/** Takes `count` times, `together` at once, and returns the number of admitted takes. */
export async function takeMany(policy: Policy, key: string, count: number, together: number): Promise<number> {
  const counter = counterOf(policy)
  let left = count
  let admitted = 0
  const taker = async (): Promise<void> => {
    while (left-- > 0) {
      const { allowed } = await counter.take(key, 1)
      if (allowed) admitted++
    }
  }
  await Promise.all(Array.from({ length: together }, taker))
  return admitted
}

/**
 * Takes from several policies and keys at once, in an order that differs between processes. Returns the number of
 * admitted takes.
 */
export async function takeAllMany(
  charged: readonly (readonly [policy: Policy, key: string])[],
  count: number,
  together: number,
): Promise<number> {
  const charges: Charge[] = charged.map(([policy, key]) => ({ key, counter: counterOf(policy), cost: 1 }))
  let left = count
  let admitted = 0
  const taker = async (): Promise<void> => {
    while (left-- > 0) {
      const { verdicts } = await backend.takeAll(charges)
      if (verdicts.every(({ allowed }) => allowed)) admitted++
    }
  }
  await Promise.all(Array.from({ length: together }, taker))
  return admitted
}

function counterOf(policy: Policy): Counter {
  const id = JSON.stringify(policy)
  let counter = counters.get(id)
  if (!counter) {
    const { name, version, compile } = algorithms[policy.algorithm]
    counter = backend.open(compile(policy), `processes/${policy.name}/${name}@${version}`)
    counters.set(id, counter)
  }
  return counter
}
