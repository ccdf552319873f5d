// One backend in a separate process: the cost of a decision, Redis cost of a million decisions, memory of live keys,
// and the effect of a flood of keys that are each used once on the event loop.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { createLimiter, memoryBackend } from '@sluice/limiter-core'
import { leasedBackend, redisBackend, syncedBackend } from '@sluice/redis'
import { keyAt, openLoad } from '../decisions/loads.mjs'
import { connect } from '../redis/redis-client.mjs'
import { childOptions, finishChild } from '../run/child.mjs'
import { spin } from '../run/spin.mjs'

const { what, ...options } = childOptions()
const batch = 1_000
/** Memory for a million keys. */
const maxBytes = 256 * 2 ** 20
const maxKeys = 1_200_000
const makes = {
  memory: () => memoryBackend({ maxBytes }),
  exact: redisBackend,
  leased: leasedBackend,
  synced: (client, { nodes = 1, ...rest } = {}) => syncedBackend(client, { maxKeys, nodes, ...rest }),
}

async function opened({ backend, port, limit, nodes }) {
  const client = backend === 'memory' ? undefined : await connect(port)
  const made = makes[backend](client, backend === 'synced' ? { nodes } : undefined)
  const policy = { name: 'api', limit, window: '1m', algorithm: 'sliding-window', backend: made }
  const limiter = createLimiter({ policies: [policy], scope: backend, deadlineMs: 5_000 })
  return { made, take: (key) => limiter.take(key), allowed: ({ allowed }) => allowed, contender: { awaited: false } }
}

/** CPU of decisions only; between batches, reports are sent and responses are received. */
async function decision({ load, smoke, cellMs, ...of }) {
  const { keys, next } = openLoad(load, { smoke })
  const limiter = await opened({ ...of, limit: 1e9 })
  for (const [index, key] of keys.entries()) {
    limiter.take(key)
    if (index % batch === 0) await turn()
  }
  const spinFor = async (ms, from) => {
    let [calls, cpuUs] = [0, 0]
    while (cpuUs < ms * 1_000) {
      const before = process.cpuUsage()
      const passed = spin(limiter, next, from + calls, many)
      const { user, system } = process.cpuUsage(before)
      if (passed !== many) throw new Error(`${of.backend} denied below its limit`)
      cpuUs += user + system
      calls += many
      await sleep(20)
    }
    return { calls, cpuUs }
  }
  const many = smoke ? batch : 100 * batch
  const warm = await spinFor(cellMs / 2, 0)
  const { calls, cpuUs } = await spinFor(cellMs, warm.calls)
  return (cpuUs * 1_000) / calls
}

/** Takes from keys by Zipf's law, `perSecond` of them, without waiting for results. */
async function cost({ perSecond, ms, smoke, ...of }) {
  const { next } = openLoad('zipf10k', { smoke })
  const limiter = await opened({ ...of, limit: 6_000, nodes: 4 })
  const before = process.cpuUsage()
  const from = performance.now()
  let decisions = 0
  let answers = []
  while (performance.now() - from < ms) {
    await sleep(5)
    const due = Math.floor(((performance.now() - from) * perSecond) / 1_000)
    for (; decisions < due; decisions++) answers.push(limiter.take(next(decisions)))
    if (answers.length > 10_000) await Promise.all(answers.splice(0))
  }
  await Promise.all(answers)
  answers = undefined
  const { user, system } = process.cpuUsage(before)
  return { decisions, cpuUs: user + system }
}

/** Memory of this number of active keys, and how long a tick blocks the event loop. */
async function live({ keys, smoke, ...of }) {
  const limiter = await opened({ ...of, limit: 6_000, nodes: 20 })
  const count = smoke ? 2_000 : keys
  globalThis.gc()
  const before = process.memoryUsage()
  for (let call = 0; call < 5 * count; call++) {
    limiter.take(keyAt(call % count))
    if (call % 100 === 0) await turn()
  }
  const grownMib = () => {
    globalThis.gc()
    const after = process.memoryUsage()
    return (after.heapUsed + after.external - before.heapUsed - before.external) / 2 ** 20
  }
  const waitingMib = grownMib()
  const waits = () => metricOf(limiter.made, 'pending_sync_size').samples[0].value
  while (waits() > 0) await sleep(100)
  const mib = grownMib()
  const [{ buckets, sum, count: ticks }] = metricOf(limiter.made, 'tick_ms').samples
  const slowest = buckets.find((bucket) => bucket.count === ticks)?.upperBound ?? Infinity
  return { waitingMib, mib, ticks, tickMs: ticks > 0 ? sum / ticks : 0, slowestTickMs: ticks > 0 ? slowest : 0 }
}

function metricOf(source, name) {
  return [...source.metrics()].find((metric) => metric.name.endsWith(name))
}

/** Keys that are each used once, at this rate per second. */
async function flood({ perSecond, ms, smoke, ...of }) {
  const limiter = await opened({ ...of, nodes: 20 })
  const turns = monitorEventLoopDelay({ resolution: 1 })
  const tookUs = []
  // warms up, so that compilation and loading are not measured
  for (let call = 0; call < 2_000; call++) limiter.take(`warm ${call}`)
  await sleep(smoke ? 50 : 2_000)
  turns.enable()
  const from = performance.now()
  let made = 0
  while (performance.now() - from < ms) {
    await sleep(1)
    const due = Math.min(made + 200, Math.floor(((performance.now() - from) * perSecond) / 1_000))
    for (; made < due; made++) {
      const askedAt = performance.now()
      limiter.take(keyAt(made))
      tookUs.push((performance.now() - askedAt) * 1_000)
    }
  }
  turns.disable()
  const sorted = Float64Array.from(tookUs).sort()
  return {
    perSecond: (made * 1_000) / ms,
    p99Us: sorted[Math.floor(sorted.length * 0.99)],
    turnP99Ms: turns.percentile(99) / 1e6,
    turnMostMs: turns.max / 1e6,
  }
}

finishChild(await { decision, cost, live, flood }[what](options))
