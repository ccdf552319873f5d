// Takes in PostgreSQL in a separate process: by a limiter's backend, or by the statement that users write themselves.
import { algorithms } from '@sluice/limiter-core/backend'
import { postgresBackend } from '@sluice/postgres'
import pg from 'pg'
import { childOptions, finishChild } from '../run/child.mjs'
import { quantiles } from '../run/latencies.mjs'

const { way, url, callers, keys, ms } = childOptions()
const table = 'bench_upserts'
const asynchronous = way.startsWith('upsert,')
const pool = new pg.Pool({
  connectionString: url,
  max: 10,
  ...(asynchronous && { options: '-c synchronous_commit=off' }),
})
const names = Array.from({ length: keys }, (_, index) => `client ${index}`)
const take = way.includes('limits') ? await limits(way === 'durable limits') : await upsert()
// opens the connections and compiles the measured code
await loop(ms / 5)
const cpuBefore = process.cpuUsage()
const tookMs = await loop(ms)
const { user, system } = process.cpuUsage(cpuBefore)
await pool.end()
finishChild({
  perSecond: (tookMs.length / ms) * 1_000,
  cpuUs: (user + system) / tookMs.length,
  ...quantiles(tookMs),
})

async function limits(durable) {
  const backend = postgresBackend(pool, { durable })
  await backend.migrate()
  const policy = { name: 'bench', algorithm: 'fixed-window', limit: 900_000_000_000, windowMs: 3_600_000 }
  const counter = backend.open(algorithms['fixed-window'].compile(policy), 'bench/bench/fixed-window@1')
  return async (key) => {
    if (!(await counter.take(key, 1)).allowed) throw new Error('denied a key far under its limit')
  }
}

async function upsert() {
  await pool.query(
    `create table if not exists ${table} (key text primary key, used int not null, ends_at timestamptz not null)`,
  )
  const statement = `insert into ${table} as t values ($1, 1, now() + interval '1 hour')
on conflict (key) do update set
  used = case when t.ends_at <= now() then 1 else t.used + 1 end,
  ends_at = case when t.ends_at <= now() then now() + interval '1 hour' else t.ends_at end
returning used, ends_at`
  return (key) => pool.query(statement, [key])
}

async function loop(forMs) {
  const latencies = []
  const endsAt = performance.now() + forMs
  const caller = async () => {
    for (let from = performance.now(); from < endsAt; ) {
      await take(names[Math.floor(Math.random() * keys)])
      const to = performance.now()
      latencies.push(to - from)
      from = to
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return latencies
}
