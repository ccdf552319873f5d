import { startPostgres } from '../postgres/postgres-server.mjs'
import { startRedis } from '../redis/redis-server.mjs'
import { Cells } from '../run/cells.mjs'
import { median } from '../run/median.mjs'
import { startMariadb } from './mariadb-server.mjs'

const cell = new URL('./stores-cell.mjs', import.meta.url)
const loads = [
  { title: 'one caller, one key', callers: 1, keys: 1 },
  { title: '64 callers, one key', callers: 64, keys: 1 },
  { title: '64 callers, 10,000 keys', callers: 64, keys: 10_000 },
]
// older versions of Node.js have no SQLite
const hasSqlite = process.getBuiltinModule('node:sqlite') !== undefined

/** `seconds`: duration of each loop. */
export async function run({ smoke = false, rounds = 3, seconds = 5, only = '', progress = () => {} } = {}) {
  const [redis, postgres, mariadb] = await Promise.all([startRedis(), startPostgres(), startMariadb()])
  const names = namesOf({ redis, postgres, mariadb })
  const stores = Object.keys(names).filter((store) => names[store].includes(only))
  const servers = { redisPort: redis.port, postgresUrl: postgres.url, mariadbPort: mariadb.port }
  const cells = new Cells([], { together: smoke })
  try {
    const tables = []
    for (const load of loads) {
      const turns = []
      for (let round = 0; round < (smoke ? 1 : rounds); round++) {
        const turn = {}
        for (const store of stores) {
          progress(`stores: ${load.title}, ${store}`)
          turn[store] = await cells.run(cell, { ...load, store, servers, ms: smoke ? 50 : seconds * 1_000 })
        }
        turns.push(turn)
      }
      tables.push(tableOf(load, stores, names, turns))
    }
    return tables
  } finally {
    cells.close()
    await Promise.all([redis.close(), postgres.close(), mariadb.close()])
  }
}

function namesOf({ redis, postgres, mariadb }) {
  return {
    memory: '`memoryBackend`',
    redis: `\`redisBackend\`, Redis ${redis.version}`,
    postgres: `\`postgresBackend\`, PostgreSQL ${postgres.version.split(' ')[0]}`,
    mariadb: `\`mysqlStore\`, MariaDB ${mariadb.version}`,
    ...(hasSqlite && { sqlite: '`sqliteStore`, `node:sqlite`' }),
  }
}

function tableOf({ title }, stores, names, turns) {
  const of = (store, what) => median(turns.map((turn) => turn[store][what]))
  return {
    title: `Stores: ${title}`,
    columns: ['counted by', 'decisions a second', 'p50 ms', 'p99 ms', 'CPU µs of the process'],
    rows: stores.map((store) => [
      names[store],
      of(store, 'perSecond'),
      of(store, 'p50'),
      of(store, 'p99'),
      of(store, 'cpuUs'),
    ]),
    notes: [
      'One process, and servers on loopback with their defaults: MariaDB writes each commit to the disk, PostgreSQL up to 0.6 s later, Redis not at all. SQLite with `journal_mode = WAL` and `synchronous = NORMAL`. Pools have ten connections.',
    ],
  }
}
