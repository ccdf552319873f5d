import { beforeEach, describe, expect, test } from '@jest/globals'
import { createLimiter, type Decision } from '@sluice/limiter-core'
import { systemClock } from '@sluice/limiter-core/backend'
import { type PostgresBackend, postgresBackend } from '@sluice/postgres'
import type { Pool } from 'pg'
import { eventually } from '../services/eventually.ts'
import { forTests } from '../services/for-tests.ts'
import { postgresForTests } from '../services/postgres/postgres-for-tests.ts'
import { startProxy } from '../services/proxies/tcp-proxy.ts'
import { ownSchema } from './own-schema.ts'

const LIMIT = 10_000
const DEADLINE_MS = 50
/** Far above the deadline, because the machine may be busy. */
const LONGEST_MS = 1_000

const postgres = postgresForTests({ fsync: false })
const proxy = forTests(
  () => startProxy(postgres.server.port),
  (one) => one.stop(),
)
let pool: Pool
let backend: PostgresBackend

beforeEach(async () => {
  pool = postgres.server.pool({ port: proxy.current.port, connectionTimeoutMillis: 500 })
  backend = postgresBackend(pool, { schema: ownSchema() })
  await backend.migrate()
})

interface Fault {
  readonly name: string
  readonly begin: () => Promise<void> | void
  readonly end: () => Promise<void> | void
}

const faults: readonly Fault[] = [
  { name: 'killed and restarted', begin: () => postgres.server.kill(), end: () => postgres.server.start() },
  { name: 'paused', begin: () => postgres.server.pause(), end: () => postgres.server.resume() },
  { name: 'cut off by a reset of all connections', begin: () => proxy.current.cut('reset'), end: () => {} },
  { name: 'silent', begin: () => proxy.current.blackHole(), end: () => proxy.current.heal() },
]

describe('while the server is away, the failure rule answers within the deadline, and afterwards all units are counted', () => {
  test.each(faults)('$name', async ({ begin, end }) => {
    const limiter = createLimiter({
      policies: [{ name: 'hour', limit: LIMIT, window: '1h', algorithm: 'fixed-window' }],
      backend,
      scope: 'faults',
      deadlineMs: DEADLINE_MS,
    })
    let allowed = 0
    let longestMs = 0
    const take = async (): Promise<Decision> => {
      const from = systemClock.now()
      const decision = await limiter.take('key')
      longestMs = Math.max(longestMs, systemClock.now() - from)
      if (decision.allowed) allowed++
      return decision
    }
    const takeFor = async (ms: number): Promise<void> => {
      const until = systemClock.now() + ms
      while (systemClock.now() < until) {
        await Promise.all([take(), take(), take()])
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
    await eventually(async () => (await take()).source === 'postgres', { what: 'a decision of the server' })
    longestMs = 0
    await takeFor(100)
    await begin()
    await takeFor(300)
    await end()
    await eventually(async () => (await take()).source === 'postgres', { what: 'a decision of the server' })
    expect(longestMs).toBeLessThan(LONGEST_MS)
    await eventually(async () => (await take()).binding.remaining === LIMIT - allowed, {
      what: 'a count of all admitted units',
    })
    await limiter.close()
  })
})
