import { startRedis } from '../redis/redis-server.mjs'
import { runChild } from '../run/child.mjs'
import { median } from '../run/median.mjs'
import { boundColumns, boundRow } from '../run/target.mjs'

const cell = new URL('./leases-cell.mjs', import.meta.url)
const backends = ['exact', 'leased']
const windowMs = 10_000
// the load takes 10,000 units per window
const crowds = [
  { what: 'under its limit', limit: 1_000_000 },
  { what: 'at its limit', limit: 10_000 },
  { what: 'at twice its limit', limit: 5_000 },
]

/** `seconds`: duration of each load. Rounds with keys used once take turns. */
export async function run({ smoke = false, rounds = 3, seconds = 5, progress = () => {} } = {}) {
  const redis = await startRedis()
  try {
    const ms = smoke ? 200 : seconds * 4_000
    const hot = await crowdRows(redis, ms, progress)
    const once = await onceRounds(redis, smoke ? 1 : rounds, smoke ? 500 : 200_000, progress)
    return [crowdTable(hot, redis), onceTable(once), targetTable(hot, once)]
  } finally {
    redis.close()
  }
}

async function crowdRows(redis, ms, progress) {
  const rows = []
  for (const { what, limit } of crowds) {
    for (const backend of backends) {
      progress(`leases: a key ${what}, ${backend}`)
      await redis.empty()
      const options = { backend, port: redis.port, scope: 'crowd', crowd: { limit, windowMs, ms } }
      rows.push({ what, backend, ...(await runChild(cell, options)) })
    }
  }
  return rows
}

async function onceRounds(redis, rounds, keys, progress) {
  const taken = []
  for (let round = 0; round < rounds; round++) {
    const turn = {}
    const order = round % 2 === 0 ? backends : [...backends].reverse()
    for (const backend of order) {
      progress(`leases: ${keys} keys once, ${backend}`)
      await redis.empty()
      const [before, bytesBefore] = [await redis.spent(), await redis.usedBytes()]
      const measured = await runChild(cell, { backend, port: redis.port, scope: 'once', keys })
      const after = await redis.spent()
      turn[backend] = {
        ...measured,
        serverUs: (after.cpuUs - before.cpuUs) / keys,
        bytes: ((await redis.usedBytes()) - bytesBefore) / keys,
      }
    }
    taken.push(turn)
  }
  return taken
}

function crowdTable(rows, { version }) {
  return {
    title: 'One key, 1,000 decisions a second',
    columns: ['backend', 'key', 'decisions', 'admitted %', 'p50 µs', 'p99 µs', 'p99.9 µs'],
    rows: rows.map((row) => [row.backend, row.what, row.asked, row.admittedPercent, row.p50Us, row.p99Us, row.p999Us]),
    notes: [
      `Redis ${version} on loopback. Twenty tasks of one process each ask every 20 ms, all in the same turn; a token bucket of a window of 10 s, from its first decision on.`,
      'Admitted: share of the requested units, or of the units that the policy allows in that time if these are fewer.',
    ],
  }
}

const figures = ['perSecond', 'clientUs', 'serverUs', 'bytes']

function onceTable(taken) {
  const of = (backend, figure) => median(taken.map((turn) => turn[backend][figure]))
  return {
    title: 'Keys used once',
    columns: ['backend', 'decisions/s', 'client CPU µs', 'server CPU µs', 'B/key in Redis'],
    rows: backends.map((backend) => [backend, ...figures.map((figure) => of(backend, figure))]),
    notes: [
      '200,000 keys, 64 callers, each backend in a process of its own; they take turns. Server CPU has that of a warm-up of 2,000 decisions.',
    ],
  }
}

function targetTable(hot, taken) {
  const waits = hot
    .filter(({ backend, what }) => backend === 'leased' && what === 'under its limit')
    .map(({ what, p999Us }) => boundRow(`leased, a key ${what}: p99.9 µs`, p999Us, { atMost: 100 }))
  const ratio = (figure) => median(taken.map(({ exact, leased }) => leased[figure] / exact[figure]))
  return {
    title: 'Lease targets',
    columns: boundColumns,
    rows: [
      ...waits,
      boundRow('keys used once: time of a decision, × exact', 1 / ratio('perSecond'), { atMost: 1.3 }),
      boundRow('keys used once: B/key, × exact', ratio('bytes'), { atMost: 1.3 }),
    ],
    notes: [],
  }
}
