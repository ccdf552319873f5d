// Cost of an insight in one process: decisions with and without it in turns, its memory, and a snapshot.
import { setImmediate as nextTurn, setTimeout as passed } from 'node:timers/promises'
import { createInsight, logObserver } from '@sluice/insight'
import { keyAt, openLoad } from '../decisions/loads.mjs'
import { childOptions, finishChild } from '../run/child.mjs'
import { median } from '../run/median.mjs'
import { spreadOf } from '../run/spread.mjs'
import { cpuUs, decide, openLimiters } from './insight-state.mjs'

const { what, load, ms, keys, settleMs } = childOptions()
const perTurn = 4_096
const warmUpTurns = 20

/** Nanoseconds per decision, for variants that take turns. */
async function decisions() {
  const { next } = openLoad(load, { smoke: ms < 1_000 })
  const logger = { warn() {} }
  const variants = {
    bare: openLimiters(undefined),
    insight: openLimiters([createInsight()]),
    logged: openLimiters([createInsight(), logObserver({ logger })]),
  }
  const turns = []
  let endsAt = performance.now() + ms
  for (let turn = 0; turns.length === 0 || performance.now() < endsAt; turn++) {
    const taken = {}
    for (const [name, limiters] of Object.entries(variants)) taken[name] = turnOf(limiters, next, turn * perTurn)
    if (turn === warmUpTurns) endsAt = performance.now() + ms
    if (turn >= warmUpTurns) turns.push(taken)
    // lets ticks of the insight run
    await nextTurn()
  }
  return {
    bareNs: median(turns.map(({ bare }) => bare)),
    insight: spreadOf(turns.map(({ bare, insight }) => insight - bare)),
    logged: spreadOf(turns.map(({ bare, logged }) => logged - bare)),
  }
}

function turnOf(limiters, next, from) {
  const before = cpuUs()
  for (let call = from; call < from + perTurn; call++) decide(limiters, call, next(call))
  return ((cpuUs() - before) * 1_000) / perTurn
}

/** Memory of an insight that has seen this number of keys, and the cost of a snapshot. */
async function memory() {
  let insight
  // the limiters have all keys before the insight is created, so that their memory is not counted
  const limiters = openLimiters([{ decided: (...decided) => insight?.decided(...decided) }])
  const see = () => {
    for (let call = 0; call < keys * 5; call++) decide(limiters, call, keyAt(call % keys))
  }
  see()
  const before = heldBytes()
  insight = createInsight()
  see()
  // all counts have been reported by then
  await passed(settleMs)
  const { policies, routes } = insight.snapshot()
  const after = heldBytes()
  const snapshots = Array.from({ length: 40 }, () => {
    const from = cpuUs()
    for (let call = 0; call < 10; call++) insight.snapshot()
    return (cpuUs() - from) / 10
  })
  return {
    bytes: after - before,
    policies: policies.length,
    routes: routes.length,
    snapshotUs: spreadOf(snapshots.slice(10)),
  }
}

function heldBytes() {
  globalThis.gc()
  // the second collection frees memory released by finalizers of the first
  globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

finishChild(await (what === 'memory' ? memory() : decisions()))
