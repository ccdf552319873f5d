// One way to count, in a separate process: the duration of an increment, a read and a batch.
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { createCounters } from '@sluice/counters'
import { postgresLedger } from '@sluice/counters/postgres'
import { redisCounters } from '@sluice/counters/redis'
import pg from 'pg'
import { connect } from '../redis/redis-client.mjs'
import { childOptions, finishChild } from '../run/child.mjs'
import { quantiles, timed } from '../run/latencies.mjs'

const { what, way, url, port, ms, ids, perSecond } = childOptions()
const pool = new pg.Pool({ connectionString: url, max: 10 })
const client = await connect(port)
const statements = { count: 0 }
const sql = {
  query: (text, values) => {
    if (text.startsWith('with moved')) statements.count++
    return pool.query(text, values)
  },
}
const ledger = postgresLedger(sql)
await ledger.migrate()
await pool.query('create table if not exists plain (id text primary key, value bigint not null)')
const upsert = 'insert into plain values ($1, 1) on conflict (id) do update set value = plain.value + 1 returning value'
const options = { name: `${what}-${way}`, ledger }
const counters = way === 'hot' ? redisCounters(client, options) : createCounters(options)
const ways = {
  buffered: (id) => counters.increment(id),
  hot: (id) => counters.increment(id),
  durable: (id) => counters.increment(id, 1, { durable: true }),
  redis: (id) => client.incrby(`plain:${id}`, 1),
  postgres: (id) => pool.query(upsert, [id]),
}
const idAt = (index) => `page:${index % ids}`
const cells = { increments, busy, reads, batch }
finishChild(await cells[what]())

/** An open loop: calls do not wait for earlier responses. */
async function increments() {
  const increment = ways[way]
  for (let index = 0; index < ids; index++) await increment(idAt(index))
  const latencies = []
  const sent = []
  statements.count = 0
  const before = process.cpuUsage()
  const from = performance.now()
  let count = 0
  while (performance.now() - from < ms) {
    await sleep(1)
    const due = Math.floor(((performance.now() - from) * perSecond) / 1_000)
    for (; count < due; count++) sent.push(timed(() => increment(idAt(count * 7)), latencies))
    if (sent.length > 10_000) await Promise.all(sent.splice(0))
  }
  await Promise.all(sent)
  const seconds = (performance.now() - from) / 1_000
  const { user, system } = process.cpuUsage(before)
  return {
    ...quantiles(latencies),
    cpuUs: (user + system) / count,
    perSecond: count / seconds,
    statements: statements.count / seconds,
  }
}

/** As many increments as one process makes between turns of its event loop, up to the rate. */
async function busy() {
  for (let index = 0; index < ids; index++) await counters.increment(idAt(index))
  await counters.flush()
  statements.count = 0
  const before = process.cpuUsage()
  const from = performance.now()
  let count = 0
  while (performance.now() - from < ms) {
    await turn()
    const due = Math.floor(((performance.now() - from) * perSecond) / 1_000)
    for (; count < due; count++) void counters.increment(idAt(count * 7))
  }
  const seconds = (performance.now() - from) / 1_000
  const { user, system } = process.cpuUsage(before)
  return { cpuUs: (user + system) / count, perSecond: count / seconds, statements: statements.count / seconds }
}

async function reads() {
  for (let index = 0; index < ids; index++) await counters.increment(idAt(index))
  await counters.flush()
  const [known, missed, sums] = [[], [], []]
  const from = performance.now()
  for (let index = 0; performance.now() - from < ms; index++) {
    await timed(() => counters.read(idAt(index)), known)
    await timed(() => counters.read(`never:${index}`), missed)
    if (index % 20 === 0) await timed(() => counters.aggregate('page:'), sums)
  }
  return { known: quantiles(known), missed: quantiles(missed), sums: quantiles(sums) }
}

/** Batches of equally many ids, each with a token. */
async function batch() {
  const deltas = Array.from({ length: ids }, (_, index) => [idAt(index), 1])
  const [first, again] = [[], []]
  const from = performance.now()
  for (let index = 0; index === 0 || performance.now() - from < ms; index++) {
    const token = `${way}-${index}`
    await timed(() => counters.incrementMany(deltas, { token }), first)
    await timed(() => counters.incrementMany(deltas, { token }), again)
  }
  return { first: quantiles(first), again: quantiles(again) }
}
