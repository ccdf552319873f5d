// One contender: memory per live key. Keys are created on insertion and not referenced elsewhere, so that
// the string counts if the contender keeps it.

import { ask, openContender } from '../decisions/contenders.mjs'
import { keyAt } from '../decisions/loads.mjs'
import { childOptions, finishChild } from '../run/child.mjs'
import { spin } from '../run/spin.mjs'

const { name, keys } = childOptions()
const sampled = 1_000

function heldBytes() {
  globalThis.gc()
  // the second collection frees memory released by finalizers of the first
  globalThis.gc()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { held: heapUsed + external, rss }
}

// limit one: a second take of a key is denied unless the key was evicted; 96 MiB hold a million keys of any policy
const promise = { limit: 1, windowMs: 86_400_000, capacity: keys, maxBytes: 96 << 20, holdsAll: true }
async function rehearse() {
  await spin(await openContender(name, promise), keyAt, 0, Math.min(keys, 20_000))
}

await rehearse()
// before the contender is created, so that memory allocated ahead of its keys counts
const before = heldBytes()
const opened = await openContender(name, promise)
const started = process.cpuUsage()
const passed = await spin(opened, keyAt, 0, keys)
const spent = process.cpuUsage(started)
const after = heldBytes()
if (passed !== keys) throw new Error(`${name} denied ${keys - passed} of ${keys} new keys`)

let forgotten = 0
const stride = Math.floor(keys / sampled)
for (let sample = 0; sample < sampled; sample++) if (await ask(opened, keyAt(sample * stride))) forgotten++

finishChild({
  bytesPerKey: (after.held - before.held) / keys,
  rssBytesPerKey: (after.rss - before.rss) / keys,
  nsPerInsert: ((spent.user + spent.system) * 1_000) / keys,
  forgottenPercent: opened.contender.counts === false ? 100 : (forgotten * 100) / sampled,
})
