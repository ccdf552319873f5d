// One contender: garbage in heap bytes per decision. Runs with a young generation too large to be
// collected during the run, which is why another process measures time.
import { childOptions, finishChild } from './child.mjs'
import { ask, openContender } from './contenders.mjs'
import { openLoad } from './loads.mjs'
import { spin } from './spin.mjs'

const { name, loads, smoke } = childOptions()
const calls = smoke ? 2_000 : 20_000

async function measure(loadName) {
  const load = openLoad(loadName, { smoke })
  const promise = { limit: 1e9, windowMs: 600_000, capacity: load.keys.length, maxBytes: 64 << 20 }
  const opened = await openContender(name, promise)
  // does not use `spin`: its call sites are inlined only if they have seen a single kind of key source
  for (const key of load.keys) await ask(opened, key)
  await spin(opened, load.next, 0, calls * 3)
  globalThis.gc()
  const before = process.memoryUsage().heapUsed
  await spin(opened, load.next, calls * 3, calls)
  return Math.max(0, process.memoryUsage().heapUsed - before) / calls
}

const bytesPerDecision = {}
for (const load of loads) bytesPerDecision[load] = await measure(load)
finishChild(bytesPerDecision)
