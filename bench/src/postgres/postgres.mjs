import { Cells } from '../run/cells.mjs'
import { runChild } from '../run/child.mjs'
import { median } from '../run/median.mjs'
import { startPostgres } from './postgres-server.mjs'

const cell = new URL('./postgres-cell.mjs', import.meta.url)
const ways = {
  upsert: 'bare `INSERT … ON CONFLICT DO UPDATE`',
  'upsert, asynchronous commit': 'the same with `synchronous_commit = off`',
  limits: '`postgresBackend`',
  'durable limits': '`postgresBackend`, `durable: true`',
}
const loads = [
  { title: 'one caller, one key', callers: 1, keys: 1 },
  { title: '64 callers, 10,000 keys', callers: 64, keys: 10_000 },
  { title: '64 callers, one key', callers: 64, keys: 1 },
  { title: 'four processes of 16 callers, 256 keys', callers: 16, keys: 256, processes: 4 },
  { title: 'four processes of 16 callers, one key', callers: 16, keys: 1, processes: 4 },
]

/** `seconds`: duration of each loop. */
export async function run({ smoke = false, rounds = 3, seconds = 5, progress = () => {} } = {}) {
  const postgres = await startPostgres()
  const alone = new Cells([], { together: smoke })
  try {
    const tables = []
    for (const load of loads) {
      const turns = []
      for (let round = 0; round < (smoke ? 1 : rounds); round++) {
        const turn = {}
        for (const way of Object.keys(ways)) {
          progress(`postgres: ${load.title}, ${way}`)
          turn[way] = await runCells(alone, {
            way,
            ...(smoke ? smallest(load) : load),
            url: postgres.url,
            ms: smoke ? 50 : seconds * 1_000,
          })
        }
        turns.push(turn)
      }
      tables.push(tableOf(load, turns, postgres))
    }
    return tables
  } finally {
    alone.close()
    await postgres.close()
  }
}

/** The same load with no more processes than make it a shared one. */
function smallest(load) {
  return load.processes ? { ...load, processes: 2 } : load
}

/** Runs the processes of a load at once. Decisions per second are those of all processes, the others of the slowest. */
async function runCells(alone, { processes = 1, ...options }) {
  const all =
    processes === 1
      ? [await alone.run(cell, options)]
      : await Promise.all(Array.from({ length: processes }, () => runChild(cell, options)))
  const perSecond = all.reduce((sum, one) => sum + one.perSecond, 0)
  const most = (what) => Math.max(...all.map((one) => one[what]))
  return { perSecond, p50: most('p50'), p99: most('p99'), cpuUs: most('cpuUs') }
}

function tableOf({ title }, turns, { version }) {
  const of = (way, what) => median(turns.map((turn) => turn[way][what]))
  const ratio = (way) => median(turns.map((turn) => turn[way].perSecond / turn.upsert.perSecond))
  return {
    title: `Limits in PostgreSQL: ${title}`,
    columns: ['counted by', 'decisions a second', '×', 'p50 ms', 'p99 ms', 'CPU µs of the process'],
    rows: Object.entries(ways).map(([way, name]) => [
      name,
      of(way, 'perSecond'),
      ratio(way),
      of(way, 'p50'),
      of(way, 'p99'),
      of(way, 'cpuUs'),
    ]),
    notes: [
      `PostgreSQL ${version} with \`fsync\` on loopback, a pool of ten connections. ×: against the bare statement, in the same round.`,
    ],
  }
}
