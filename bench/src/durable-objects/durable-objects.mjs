import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { startChild } from '../run/child.mjs'
import { median } from '../run/median.mjs'

const workerdHost = new URL('./workerd-host.mjs', import.meta.url)
const worker = new URL('./durable-objects-worker.mjs', import.meta.url)
const ways = {
  bare: 'bare object: `get`, compare, `put`',
  limits: '`durableObjectBackend`',
  'durable limits': '`durableObjectBackend`, `durable: true`',
}
const loads = [
  { title: 'one caller, one key', callers: 1, keys: 1, batch: 1, ways },
  { title: '16 callers, 1,000 keys', callers: 16, keys: 1_000, batch: 1, ways },
  {
    title: '64 takes in one task, 1,000 keys',
    callers: 1,
    keys: 1_000,
    batch: 64,
    ways: { ...ways, 'one object': '`durableObjectBackend`, `shards: 1`' },
  },
]

/** `seconds`: duration of each load. */
export async function run({ smoke = false, rounds = 3, seconds = 5, progress = () => {} } = {}) {
  const host = startChild(workerdHost, { worker: fileURLToPath(worker) })
  try {
    const [port] = await once(host, 'message')
    const tables = []
    for (const load of loads) {
      const { callers, keys, batch } = load
      const turns = []
      for (let round = 0; round < (smoke ? 1 : rounds); round++) {
        const turn = {}
        for (const way of Object.keys(load.ways)) {
          progress(`objects: ${load.title}, ${way}`)
          const query = new URLSearchParams({ way, callers, keys, batch, ms: smoke ? 50 : seconds * 1_000 })
          const response = await fetch(`http://127.0.0.1:${port}/?${query}`)
          if (!response.ok) throw new Error(`the Worker answered ${response.status}`)
          turn[way] = await response.json()
        }
        turns.push(turn)
      }
      tables.push(tableOf(load, turns))
    }
    return tables
  } finally {
    host.kill()
  }
}

function tableOf({ title, ways: measured }, turns) {
  const of = (way, what) => median(turns.map((turn) => turn[way][what]))
  const ratio = (way) => median(turns.map((turn) => turn[way].perSecond / turn.bare.perSecond))
  return {
    title: `Limits in Durable Objects: ${title}`,
    columns: ['counted by', 'decisions a second', '×', 'p50 ms', 'p99 ms'],
    rows: Object.entries(measured).map(([way, name]) => [
      name,
      of(way, 'perSecond'),
      ratio(way),
      of(way, 'p50'),
      of(way, 'p99'),
    ]),
    notes: [
      'workerd with SQLite on disk. The Worker and its objects share one core. ×: against the bare object, in the same round. Times are those of a task.',
    ],
  }
}
