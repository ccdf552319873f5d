import { beforeAll, describe, expect, test } from '@jest/globals'
import { digestCounters } from '@sluice/counters'
import { postgresLedger } from '@sluice/counters/postgres'
import { systemClock } from '@sluice/limiter-core/backend'
import { eventually } from '../../services/eventually.ts'
import { postgresForTests } from '../../services/postgres/postgres-for-tests.ts'
import { runClaim, sketchClaims } from './sketch-claims.ts'

const postgres = postgresForTests()
let made = 0

beforeAll(async () => {
  await postgresLedger(postgres.pool).migrate()
})

async function waitsForLock(): Promise<boolean> {
  const { rows } = await postgres.pool.query("select 1 from pg_stat_activity where wait_event_type = 'Lock'")
  return rows.length > 0
}

describe('sketches in PostgreSQL', () => {
  test.each(Object.keys(sketchClaims))('%s', (claim) =>
    runClaim(claim, (clock) => postgresLedger(postgres.pool, { clock }), { name: `sketches-${++made}` }),
  )

  test('apply a batch once though its answer was lost twice', async () => {
    let lost = 2
    const query = async (text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }> => {
      const answer = await postgres.pool.query(text, values)
      if (text.startsWith('with moved') && lost-- > 0) throw new Error('the answer was lost')
      return answer
    }
    const digests = digestCounters({ ledger: postgresLedger({ query }), name: `sketches-${++made}`, flushMs: '1h' })
    await digests.add('ms', 1)
    await expect(digests.flush()).rejects.toThrow('the answer was lost')
    await digests.add('ms', 2)
    await expect(digests.flush()).rejects.toThrow('the answer was lost')
    expect((await digests.daySketch('ms')).count).toBe(2)
    await digests.close()
  })

  test('lose no row if two processes merge at the same time, each with other rows', async () => {
    const name = `sketches-${++made}`
    const client = await postgres.pool.connect()
    const [one, other] = [client, postgres.pool].map((sql) => postgresLedger(sql).openSketches(name, 'digest'))
    const row = { id: 'a', firstHour: 5, hours: 1, bytes: Uint8Array.of(1) }
    const merged = { ...row, bytes: Uint8Array.of(2) }
    try {
      await one.append({ writer: 'w', number: 1, rows: [row, row, row] })
      const rows = await one.read('a', { from: 5, until: 6 })
      await client.query('begin')
      expect(await one.replace(rows.slice(0, 2), merged)).toBe(true)
      const late = other.replace(rows.slice(1), merged)
      await eventually(waitsForLock, { what: 'a merge that waits for another one' })
      await client.query('commit')
      expect(await late).toBe(false)
      const left = await other.read('a', { from: 5, until: 6 })
      expect(left.map(({ bytes }) => bytes[0]).sort()).toEqual([1, 2])
    } finally {
      client.release()
    }
  })

  test('keep unfinished days by the clock of the server, however far a process clock is ahead', async () => {
    const table = postgresLedger(postgres.pool).openSketches(`sketches-${++made}`, 'digest')
    const today = Math.floor(systemClock.wall() / 86_400_000) * 24
    const rowAt = (firstHour: number) => ({ id: 'a', firstHour, hours: 1, bytes: Uint8Array.of(1) })
    const days = [today, today - 29 * 24, today - 40 * 24]
    await table.append({ writer: 'w', number: 1, rows: days.map(rowAt) })
    await table.deleteBefore(today + 365 * 24, 31)
    const left = await table.read('a', { from: 0, until: today + 1 })
    expect(left.map(({ firstHour }) => firstHour).sort()).toEqual([today - 29 * 24, today].sort())
  })
})
