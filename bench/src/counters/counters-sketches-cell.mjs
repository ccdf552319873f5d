// Sketches stored in a ledger, in a separate process: the duration of an add and a read, and the size of rows.
import { digestCounters, uniqueCounters } from '@sluice/counters'
import { postgresLedger } from '@sluice/counters/postgres'
import { systemClock } from '@sluice/limiter-core/backend'
import pg from 'pg'
import { childOptions, finishChild } from '../run/child.mjs'
import { quantiles, timed } from '../run/latencies.mjs'

const { kind, url, ms, callers, perHour, processes } = childOptions()
const HOUR_MS = 3_600_000
const HOURS = 24
const pool = new pg.Pool({ connectionString: url, max: 10 })
const ledger = postgresLedger(pool)
await ledger.migrate()
const kinds = {
  unique: { open: uniqueCounters, read: (counters) => counters.day('day') },
  digest: { open: digestCounters, read: (counters) => counters.day('day', 0.99) },
}
const { open, read } = kinds[kind]
finishChild({ one: await durable(1), many: await durable(callers), ...(await days()) })

/** A closed loop with this number of callers. */
async function durable(count) {
  const name = `durable-${count}`
  const counters = open({ ledger, name })
  const latencies = []
  const from = performance.now()
  let value = 0
  const call = async () => {
    while (performance.now() - from < ms) await timed(() => counters.add('id', value++, { durable: true }), latencies)
  }
  await Promise.all(Array.from({ length: count }, call))
  const seconds = (performance.now() - from) / 1_000
  await counters.close()
  return { ...quantiles(latencies), perSecond: value / seconds }
}

/** One day of a fleet in which each process wrote one row per hour. */
async function days() {
  const single = open({ ledger, name: 'single' })
  await single.add('id', 1, { durable: true })
  await single.close()
  const start = Date.UTC(2026, 0, 5)
  let wall = start
  const clock = { ...systemClock, wall: () => wall }
  // no row is merged before it is read: random compaction is disabled, and a later hour is already compacted
  const fleet = Array.from({ length: processes }, () => open({ ledger, name: 'days', clock, random: () => 0.999 }))
  wall = start + HOURS * HOUR_MS
  await fleet[0].add('later', 1, { durable: true })
  await fleet[0].compact()
  for (let hour = 0; hour < HOURS; hour++) {
    wall = start + hour * HOUR_MS
    for (const [index, counters] of fleet.entries()) {
      for (let n = 0; n < perHour; n++) await counters.add('day', (hour * processes + index) * perHour * 0.5 + n)
      await counters.flush()
    }
  }
  wall = start + (HOURS - 1) * HOUR_MS
  const before = await readings(fleet[0])
  await fleet[0].compact()
  const after = await readings(fleet[0])
  // two days later everything is in one row
  wall = start + 3 * HOURS * HOUR_MS
  await fleet[0].compact()
  wall = start
  const day = await readings(fleet[0])
  for (const counters of fleet) await counters.close()
  return { before, after, day, oneBytes: (await sizes('single', 'id')).smallest }
}

async function readings(counters) {
  const latencies = []
  for (let n = 0; n < 50; n++) await timed(() => read(counters), latencies)
  return { ...quantiles(latencies), ...(await sizes('days', 'day')) }
}

async function sizes(name, id) {
  const { rows } = await pool.query(
    `select count(*)::int as rows, min(length(bytes))::int as smallest, avg(length(bytes))::float as bytes
from sluice.counter_sketches where name = $1 and kind = $2 and id = $3`,
    [name, kind, id],
  )
  return rows[0]
}
