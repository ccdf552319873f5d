// One contender in a separate process: CPU ns per decision for each of its loads.
import { childOptions, finishChild } from '../run/child.mjs'
import { spin } from '../run/spin.mjs'
import { ask, openContender, proveCounting } from './contenders.mjs'
import { openLoad } from './loads.mjs'

const batch = 1_000

async function measure(name, loadName, { smoke, seed, cellMs }) {
  const load = openLoad(loadName, { smoke, seed })
  const promise = { limit: 1e9, windowMs: 600_000, capacity: load.keys.length, maxBytes: 64 << 20 }
  const opened = await openContender(name, promise)
  // does not use `spin`: its call sites are inlined only if they have seen a single kind of key source
  for (const key of load.keys) await ask(opened, key)

  const warm = await spinFor(opened, load.next, 0, cellMs / 2)
  const before = process.cpuUsage()
  const run = await spinFor(opened, load.next, warm.calls, cellMs)
  const spent = process.cpuUsage(before)

  if (opened.limit === promise.limit && run.passed !== run.calls) {
    throw new Error(`${name} denied ${run.calls - run.passed} of ${run.calls} decisions below its limit`)
  }
  return ((spent.user + spent.system) * 1_000) / run.calls
}

async function spinFor(opened, next, from, durationMs) {
  const endsAt = performance.now() + durationMs
  let calls = 0
  let passed = 0
  while (performance.now() < endsAt) {
    const answer = spin(opened, next, from + calls, batch)
    passed += opened.contender.awaited ? await answer : answer
    calls += batch
  }
  return { calls, passed }
}

const { name, loads, ...options } = childOptions()
await proveCounting(name)
const nsPerDecision = {}
for (const load of loads) nsPerDecision[load] = await measure(name, load, options)
finishChild(nsPerDecision)
