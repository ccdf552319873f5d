import { spin } from '../run/spin.mjs'
import { ask, openContender } from './contenders.mjs'
import { openLoad } from './loads.mjs'

/** The garbage of a batch must fit the young generation, so that no collection runs while it is measured. */
export const garbageFlags = ['--expose-gc', '--min-semi-space-size=256', '--max-semi-space-size=256']

/** Returns the heap bytes that a decision on one key allocates, over a million decisions. Needs `garbageFlags`. */
export async function garbageBytes(name, smoke) {
  const batch = smoke ? 1_000 : 20_000
  const batches = smoke ? 2 : 50
  const { keys, next } = openLoad('hot', { smoke })
  const promise = { limit: 1e9, windowMs: 600_000, capacity: keys.length, maxBytes: 64 << 20 }
  const opened = await openContender(name, promise)
  // does not use `spin`: its call sites are inlined only if they have seen a single kind of key source
  for (const key of keys) await ask(opened, key)
  // the first run compiles the measured code
  await garbageOf(opened, next, batch, batches)
  return garbageOf(opened, next, batch, batches)
}

async function garbageOf(opened, next, batch, batches) {
  let bytes = 0
  for (let index = 0; index < batches; index++) {
    globalThis.gc()
    const before = process.memoryUsage().heapUsed
    await spin(opened, next, index * batch, batch)
    bytes += process.memoryUsage().heapUsed - before
  }
  return bytes / (batch * batches)
}
