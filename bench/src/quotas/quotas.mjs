import { startPostgres } from '../postgres/postgres-server.mjs'
import { startRedis } from '../redis/redis-server.mjs'
import { runChild } from '../run/child.mjs'
import { median } from '../run/median.mjs'
import { targetColumns, targetRow } from '../run/target.mjs'

const cell = new URL('./quotas-cell.mjs', import.meta.url)
const ways = {
  quotas: '`createQuotas`, PostgreSQL',
  leased: '`leasedBackend`, Redis',
}

/** `seconds`: duration of each loop; the steady load runs twelve times as long. */
export async function run({ smoke = false, rounds = 3, seconds = 5, progress = () => {} } = {}) {
  const redis = await startRedis()
  const postgres = await startPostgres()
  const ask = (what, backend, ms) => {
    progress(`quotas: ${what}, ${backend}`)
    return runChild(cell, { what, backend, url: postgres.url, port: redis.port, ms })
  }
  try {
    const crowds = {}
    for (const way of Object.keys(ways)) crowds[way] = await ask('crowd', way, smoke ? 200 : seconds * 12_000)
    const loops = []
    for (let round = 0; round < (smoke ? 1 : rounds); round++) {
      const turn = {}
      for (const way of Object.keys(ways)) turn[way] = await ask('loop', way, smoke ? 100 : seconds * 1_000)
      loops.push(turn)
    }
    return [crowdTable(crowds, { redis, postgres }), loopTable(loops), targetTable(crowds, loops)]
  } finally {
    await postgres.close()
    redis.close()
  }
}

function crowdTable(crowds, { redis, postgres }) {
  return {
    title: 'A quota, one key, 1,000 takes a second by 20 callers',
    columns: ['counted by', 'takes', 'p50 µs', 'p99 µs', 'p99.9 µs', 'longest ms', 'statements a second'],
    rows: Object.entries(ways).map(([way, title]) => {
      const { asked, p50, p99, p999, longest, statements } = crowds[way]
      return [title, asked, p50 * 1_000, p99 * 1_000, p999 * 1_000, longest, statements]
    }),
    notes: [
      `PostgreSQL ${postgres.version} with \`fsync\` and Redis ${redis.version} on loopback; callers ask every 20 ms, all in the same turn. Statements are those of PostgreSQL.`,
    ],
  }
}

function loopTable(loops) {
  return {
    title: 'A quota, sequential takes',
    columns: ['counted by', 'CPU ns a take'],
    rows: Object.entries(ways).map(([way, title]) => [title, median(loops.map((turn) => turn[way].cpuNs))]),
  }
}

function targetTable(crowds, loops) {
  const ratio = median(loops.map(({ quotas, leased }) => quotas.cpuNs / leased.cpuNs))
  return {
    title: 'Quota targets',
    columns: targetColumns,
    rows: [
      targetRow('a take, × leased', ratio, 1.5),
      targetRow('one key, 1,000 a second, 20 callers: p99.9 µs', crowds.quotas.p999 * 1_000, 100),
    ],
    notes: [],
  }
}
