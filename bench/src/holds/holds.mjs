import { startPostgres } from '../postgres/postgres-server.mjs'
import { startRedis } from '../redis/redis-server.mjs'
import { runChild } from '../run/child.mjs'
import { median } from '../run/median.mjs'
import { quartilesOf } from '../run/quartiles.mjs'
import { targetColumns, targetRow } from '../run/target.mjs'

const cell = new URL('./holds-cell.mjs', import.meta.url)
/** Most that a hold and its settlement may cost, compared with a take and its correction. */
const MOST = 1.5
const backends = [
  { kind: 'memory', name: '`memoryBackend`', calls: 20_000 },
  { kind: 'redis', name: '`redisBackend`', calls: 500 },
  { kind: 'postgres', name: '`postgresBackend`', calls: 500 },
  { kind: 'synced', name: '`syncedBackend`', calls: 5_000 },
  { kind: 'quotas', name: 'quotas in PostgreSQL, too small for leases', calls: 500 },
  { kind: 'leased', name: '`leasedBackend`', calls: 500 },
]

export async function run({ smoke = false, rounds = 3, progress = () => {} } = {}) {
  const redis = await startRedis()
  const postgres = await startPostgres()
  try {
    const measured = []
    for (const { kind, name, calls } of backends) {
      progress(`holds: ${kind}`)
      const servers = { redisPort: redis.port, postgresUrl: postgres.url }
      const options = { kind, ...servers, turns: smoke ? 2 : 7 * rounds, calls: smoke ? 20 : calls }
      measured.push({ kind, name, ...(await runChild(cell, options)) })
    }
    return [costTable(measured, { redis, postgres }), targetTable(measured)]
  } finally {
    redis.close()
    await postgres.close()
  }
}

function ratios({ take, hold }) {
  return quartilesOf(hold.map((us, turn) => us / take[turn]))
}

function costTable(measured, { redis, postgres }) {
  return {
    title: 'A hold and its settlement',
    columns: ['counted by', 'take and correction µs', 'hold and settlement µs', '×', 'quartiles'],
    rows: measured.map((one) => {
      const { low, median: middle, high } = ratios(one)
      return [one.name, median(one.take), median(one.hold), middle, `${low.toFixed(2)} to ${high.toFixed(2)}`]
    }),
    notes: [
      `One caller, one key, two calls one after the other, in turns in one process. Redis ${redis.version}, PostgreSQL ${postgres.version} with \`fsync\`. \`leasedBackend\` does not lease policies with holds: it decides them in Redis, and takes in this process.`,
    ],
  }
}

function targetTable(measured) {
  return {
    title: 'Hold targets',
    columns: targetColumns,
    rows: measured
      .filter(({ kind }) => kind !== 'leased')
      .map((one) =>
        targetRow(`a hold and its settlement, × a take and its correction: ${one.name}`, ratios(one).median, MOST),
      ),
  }
}
