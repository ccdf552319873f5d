import { startPostgres } from '../postgres/postgres-server.mjs'
import { startRedis } from '../redis/redis-server.mjs'
import { runChild } from '../run/child.mjs'
import { targetColumns, targetRow } from '../run/target.mjs'

const cell = new URL('./counters-cell.mjs', import.meta.url)
const ownersCell = new URL('./counters-owners-cell.mjs', import.meta.url)
const sketchCell = new URL('./counters-sketches-cell.mjs', import.meta.url)
const sketchNames = { unique: '`uniqueCounters`', digest: '`digestCounters`' }
const callers = 50
const perHour = 1_000
const processes = 4
const ids = 1_000
const batchIds = 10_000
const perSecond = 5_000
const busyPerSecond = 50_000
const ways = {
  buffered: '`createCounters`, before PostgreSQL',
  hot: '`redisCounters`, before PostgreSQL',
  durable: '`createCounters`, `durable: true`',
  redis: 'Redis alone: `INCRBY`',
  postgres: 'PostgreSQL alone: an upsert each',
}

/** `seconds`: duration for each way to count. */
export async function run({ smoke = false, seconds = 5, progress = () => {} } = {}) {
  const redis = await startRedis()
  const postgres = await startPostgres()
  const ms = smoke ? 100 : seconds * 1_000
  const ask = (what, way, options = {}) => {
    progress(`counters: ${what} ${way}`)
    return runChild(cell, {
      what,
      way,
      url: postgres.url,
      port: redis.port,
      ms,
      ids: smoke ? 50 : ids,
      perSecond,
      ...options,
    })
  }
  try {
    const increments = {}
    for (const way of Object.keys(ways)) increments[way] = await ask('increments', way)
    const busy = await ask('busy', 'buffered', { perSecond: busyPerSecond })
    const reads = { buffered: await ask('reads', 'buffered'), hot: await ask('reads', 'hot') }
    const many = { ids: smoke ? 100 : batchIds }
    const batches = { buffered: await ask('batch', 'buffered', many), hot: await ask('batch', 'hot', many) }
    progress('counters: owners')
    const owners = await runChild(ownersCell, { url: postgres.url, ms, ids: smoke ? 50 : ids })
    const sketches = {}
    for (const kind of Object.keys(sketchNames)) {
      progress(`counters: sketches ${kind}`)
      const options = { kind, url: postgres.url, ms, callers, processes, perHour: smoke ? 10 : perHour }
      sketches[kind] = await runChild(sketchCell, options)
    }
    return [
      incrementTable(increments, { redis, postgres }),
      readTable(reads),
      batchTable(batches),
      ownerTable(owners),
      addTable(sketches),
      dayTable(sketches),
      targetTable({ increments, busy, reads, batches, owners }),
    ]
  } finally {
    await postgres.close()
    redis.close()
  }
}

function incrementTable(increments, { redis, postgres }) {
  return {
    title: `Increments, ${perSecond.toLocaleString('en')} a second on ${ids.toLocaleString('en')} ids`,
    columns: ['counted by', 'a second', 'p50 ms', 'p99 ms', 'longest ms', 'client CPU µs', 'batches a second'],
    rows: Object.entries(ways).map(([way, title]) => {
      const { perSecond: rate, p50, p99, longest, cpuUs, statements } = increments[way]
      return [title, rate, p50, p99, longest, cpuUs, statements]
    }),
    notes: [
      `Redis ${redis.version} without persistence and PostgreSQL ${postgres.version} with \`fsync\`, on loopback; one process, an open loop by timers of a millisecond. A killed process loses the last second of the first row, and nothing of the others; an emptied Redis the last second of the second row, and all of the fourth.`,
    ],
  }
}

function readTable(reads) {
  const row = (title, { p50, p99 }) => [title, p50, p99]
  return {
    title: 'Reads, one at a time',
    columns: ['read', 'p50 ms', 'p99 ms'],
    rows: ['buffered', 'hot'].flatMap((way) => [
      row(`${ways[way]}: known`, reads[way].known),
      row(`${ways[way]}: not known`, reads[way].missed),
      row(`${ways[way]}: sum of ${ids.toLocaleString('en')}`, reads[way].sums),
    ]),
  }
}

function batchTable(batches) {
  return {
    title: `Batches of ${batchIds.toLocaleString('en')} ids under one token`,
    columns: ['counted by', 'first p50 ms', 'first longest ms', 'again p50 ms'],
    rows: ['buffered', 'hot'].map((way) => {
      const { first, again } = batches[way]
      return [ways[way], first.p50, first.longest, again.p50]
    }),
  }
}

function ownerTable(owners) {
  const titles = {
    forwarded: 'increment, forwarded to its owner',
    routed: 'increment, sent to its owner',
    forwardedRead: 'read, forwarded to its owner',
    routedRead: 'read, sent to its owner',
    sums: `sum of ${ids.toLocaleString('en')} over three owners`,
  }
  return {
    title: 'Counters with owners: three nodes before PostgreSQL, over HTTP, one call at a time',
    columns: ['call', 'p50 ms', 'p99 ms'],
    rows: Object.entries(titles).map(([call, title]) => [title, owners[call].p50, owners[call].p99]),
    notes: [
      'Forwarded increments have a token, and are therefore written to PostgreSQL before the response; the others within a second.',
    ],
  }
}

function addTable(sketches) {
  const row = (kind, title, { p50, p99, perSecond: rate }) => [`${sketchNames[kind]}, ${title}`, rate, p50, p99]
  return {
    title: 'Durable adds of sketches in PostgreSQL, under one id',
    columns: ['added by', 'a second', 'p50 ms', 'p99 ms'],
    rows: Object.entries(sketches).flatMap(([kind, { one, many }]) => [
      row(kind, 'one caller', one),
      row(kind, `${callers} callers`, many),
    ]),
    notes: [
      `Closed loops of one process. The row of one key has ${sketches.unique.oneBytes} bytes, that of one value ${sketches.digest.oneBytes}.`,
    ],
  }
}

function dayTable(sketches) {
  const row = (title, { rows, bytes, p50, p99 }) => [title, rows, bytes, p50, p99]
  const stages = { before: 'as written', after: 'compacted', day: 'compacted, hours not kept apart' }
  return {
    title: `Reads of a day, of ${processes} processes that wrote ${perHour.toLocaleString('en')} each hour`,
    columns: ['read', 'rows', 'bytes a row', 'p50 ms', 'p99 ms'],
    rows: Object.entries(sketches).flatMap(([kind, measured]) =>
      Object.entries(stages).map(([stage, title]) => row(`${sketchNames[kind]}, ${title}`, measured[stage])),
    ),
  }
}

function targetTable({ increments, busy, reads, batches, owners }) {
  return {
    title: 'Counters targets',
    columns: targetColumns,
    rows: [
      targetRow('increment in Redis, p50 ms', increments.hot.p50, 0.5),
      targetRow('increment in Redis, p99 ms', increments.hot.p99, 2),
      targetRow('increment in the process, p99 ms', increments.buffered.p99, 2),
      targetRow('read in Redis, p50 ms', reads.hot.known.p50, 0.8),
      targetRow('read in Redis, p99 ms', reads.hot.known.p99, 5),
      targetRow('read that misses, p99 ms', reads.hot.missed.p99, 10),
      targetRow(`batch of ${batchIds.toLocaleString('en')}, ms`, batches.buffered.first.p50, 250),
      targetRow('increment that is forwarded, p50 ms', owners.forwarded.p50, 2),
      targetRow('increment at its owner, p50 ms', owners.routed.p50, 1),
      targetRow('sum over three owners, p50 ms', owners.sums.p50, 10),
      targetRow(
        `statements a second at ${busyPerSecond.toLocaleString('en')} increments a second`,
        busy.statements,
        1.5,
      ),
    ],
    notes: [
      `At ${busyPerSecond.toLocaleString('en')} a second asked for, one process counted ${Math.round(busy.perSecond).toLocaleString('en')}, each for ${busy.cpuUs.toFixed(2)} µs of CPU.`,
    ],
  }
}
