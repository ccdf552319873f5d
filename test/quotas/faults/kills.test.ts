import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { postgresLedger } from '@sluice/counters/postgres'
import { type PostgresServer, startPostgres } from '../../services/postgres/postgres-server.ts'
import { killClaims, startSpending } from './kill-claims.ts'

describe('quotas whose process or database is killed', () => {
  // the embedded database runs in kills.long.ts
  killClaims({ process: 2, postgres: 2 }, 60_000)
})

describe('four processes of which two are killed', () => {
  let postgres: PostgresServer
  const folder = mkdtempSync(join(tmpdir(), 'sluice-quotas-'))
  beforeAll(async () => {
    postgres = await startPostgres()
    await postgresLedger(postgres.pool()).migrate()
  })
  afterAll(async () => {
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test('admit at most 1,000 of 20,000 takes at a quota of 1,000, and account for each unit', async () => {
    const site = { postgresUrl: postgres.url, log: join(folder, 'log'), limits: { calls: 1_000 } }
    const children = Array.from({ length: 4 }, startSpending)
    await Promise.all(children.map((child) => child.call('open', site)))
    // killed while they hold partly spent leases
    const early = await Promise.all(children.map((child) => child.call('takeMany', 'calls', 50, 5)))
    const counts = children.slice(2).map((child) => child.call('takeMany', 'calls', 4_950, 20))
    const killed = children.slice(0, 2).map(async (child) => {
      void child.call('takeMany', 'calls', 4_950, 20).catch(() => {})
      await child.stop()
    })
    await Promise.all(killed)
    const late = await Promise.all(counts)
    const [audited] = await children[3].call('audit')
    const allowed = [...early, ...late].reduce((sum, count) => sum + count, 0)
    const { used, stranded, left, topUpLeft } = audited.balance
    expect(allowed).toBeLessThanOrEqual(1_000)
    expect(used + stranded + left - topUpLeft).toBe(1_000)
    expect(audited.usage).toBe(used + stranded)
    expect(used + stranded).toBeGreaterThanOrEqual(allowed)
    const { rows } = await postgres.pool().query(
      `select (select sum(units + stranded) from sluice.quota_usage)::int as journal,
        (select sum(units) from sluice.quota_entries where kind in ('stranded', 'reported'))::int as lost`,
    )
    expect(rows).toEqual([{ journal: used + stranded, lost: stranded === 0 ? rows[0].lost : stranded }])
    await Promise.all(children.map((child) => child.stop()))
  })
})
