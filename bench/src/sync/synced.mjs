import { loads } from '../decisions/loads.mjs'
import { startRedis } from '../redis/redis-server.mjs'
import { runChild } from '../run/child.mjs'
import { median } from '../run/median.mjs'
import { boundColumns, boundRow } from '../run/target.mjs'

const cell = new URL('./synced-cell.mjs', import.meta.url)
const loadNames = ['hot', 'uni10k', 'uni1m']
const fleetBackends = ['exact', 'leased', 'synced']
const liveKeys = 300_000
const floodPerSecond = 50_000
const costPerSecond = 5_000
const fleet = 20
const collecting = ['--expose-gc']

/** `seconds`: duration for each measured backend and for each flood. */
export async function run({ smoke = false, rounds = 3, cellMs = 1_000, seconds = 5, progress = () => {} } = {}) {
  const redis = await startRedis()
  const ask = async (options, flags) => {
    progress(`synced: ${Object.values(options).join(' ')}`)
    await redis.empty()
    const before = await redis.spent()
    const figures = await runChild(cell, { ...options, smoke, port: redis.port }, flags)
    const after = await redis.spent()
    return { figures, sent: after.sent - before.sent, serverUs: after.cpuUs - before.cpuUs }
  }
  try {
    const decisions = await decisionRounds(ask, smoke ? 1 : rounds, smoke ? 20 : cellMs)
    const ms = smoke ? 200 : seconds * 2_000
    const costs = await costRows(ask, ms)
    const { figures: live } = await ask({ what: 'live', backend: 'synced', keys: liveKeys }, collecting)
    const floods = await floodRows(ask, ms)
    return [
      decisionTable(decisions),
      costTable(costs, redis),
      liveTable(live),
      floodTable(floods),
      targetTable(decisions, live, floods),
    ]
  } finally {
    redis.close()
  }
}

async function decisionRounds(ask, rounds, cellMs) {
  const taken = []
  for (let round = 0; round < rounds; round++) {
    const turn = {}
    const order = round % 2 === 0 ? ['memory', 'synced'] : ['synced', 'memory']
    for (const load of loadNames) {
      turn[load] = {}
      for (const backend of order) {
        turn[load][backend] = (await ask({ what: 'decision', backend, load, cellMs })).figures
      }
    }
    taken.push(turn)
  }
  return taken
}

async function costRows(ask, ms) {
  const rows = []
  for (const backend of fleetBackends) {
    const { figures, sent, serverUs } = await ask({ what: 'cost', backend, perSecond: costPerSecond, ms })
    const { decisions, cpuUs } = figures
    rows.push({
      backend,
      decisions,
      calls: (sent * 1e6) / decisions,
      client: cpuUs / decisions,
      server: serverUs / decisions,
    })
  }
  return rows
}

async function floodRows(ask, ms) {
  const rows = []
  for (const limit of [6_000, 100]) {
    const { figures, sent, serverUs } = await ask({
      ...{ what: 'flood', backend: 'synced', limit },
      ...{ perSecond: floodPerSecond, ms },
    })
    rows.push({ limit, ...figures, callsPerSecond: (sent * 1_000) / ms, cores: serverUs / 1_000 / ms })
  }
  return rows
}

function ratioOf(taken, load) {
  return median(taken.map((turn) => turn[load].synced / turn[load].memory))
}

function decisionTable(taken) {
  const ns = (load, backend) => median(taken.map((turn) => turn[load][backend]))
  return {
    title: 'A decision of syncedBackend compared with one in memory',
    columns: ['keys', 'memory ns', 'synced ns', '×'],
    rows: loadNames.map((load) => [loads[load].title, ns(load, 'memory'), ns(load, 'synced'), ratioOf(taken, load)]),
    notes: ['CPU of the whole process, including background reports; each decision reads the clock of its limiter.'],
  }
}

function costTable(rows, { version }) {
  return {
    title: 'What decisions cost Redis',
    columns: ['backend', 'decisions', 'calls a million', 'client CPU µs', 'server CPU µs'],
    rows: rows.map(({ backend, decisions, calls, client, server }) => [backend, decisions, calls, client, server]),
    notes: [
      `Redis ${version} on loopback; one process, ${costPerSecond.toLocaleString('en')} decisions a second on 10,000 keys by Zipf's law, limit 6,000 a minute, four processes. Calls of leases and reports grow with time and keys in use, not with decisions.`,
    ],
  }
}

function liveTable({ waitingMib, mib, ticks, tickMs, slowestTickMs }) {
  return {
    title: `${liveKeys.toLocaleString('en')} live keys`,
    columns: ['MiB while they wait', 'MiB once they are reported', 'ticks', 'ms a tick', 'slowest tick, at most ms'],
    rows: [[waitingMib, mib, ticks, tickMs, slowestTickMs]],
    notes: [
      'Five units of each key in some seconds, limit 6,000 a minute, 20 processes: a process keeps at most three of them unreported, so that all 300,000 keys must be reported, 20,000 a second, and 200,000 may wait at once.',
    ],
  }
}

function floodTable(rows) {
  return {
    title: 'A flood of keys used once',
    columns: ['limit', 'keys/s', 'decision p99 µs', 'turn p99 ms', 'turn most ms', 'Redis calls/s', 'Redis cores'],
    rows: rows.map(({ limit, perSecond, p99Us, turnP99Ms, turnMostMs, callsPerSecond, cores }) => [
      ...[String(limit), perSecond, p99Us, turnP99Ms, turnMostMs, callsPerSecond, cores],
    ]),
    notes: ['One of 20 processes. Turn: of the event loop, as `monitorEventLoopDelay` of 1 ms sees it.'],
  }
}

function targetTable(decisions, live, floods) {
  const [large, small] = floods
  return {
    title: 'Synced targets',
    columns: boundColumns,
    rows: [
      ...loadNames.map((load) =>
        boundRow(`a decision, ${loads[load].title}: × memory`, ratioOf(decisions, load), { atMost: 1.5 }),
      ),
      boundRow('300,000 live keys: MiB once they are reported', live.mib, { atMost: 40 }),
      boundRow('300,000 live keys: slowest tick, ms', live.slowestTickMs, { atMost: 50 }),
      ...floods.map(({ limit, p99Us }) => boundRow(`flood, limit ${limit}: decision p99 µs`, p99Us, { atMost: 50 })),
      ...floods.map(({ limit, turnMostMs }) =>
        boundRow(`flood, limit ${limit}: longest turn, ms`, turnMostMs, { atMost: 10 }),
      ),
      boundRow(`flood, limit ${large.limit}: Redis cores of ${fleet} processes`, fleet * large.cores, { atMost: 0.5 }),
      boundRow(`flood, limit ${small.limit}: Redis cores of one process`, small.cores, { atMost: 0.5 }),
    ],
    notes: [],
  }
}
