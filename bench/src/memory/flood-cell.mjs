// One contender under a flood of distinct keys: speed, growth and stalls, and wrong decisions for other clients.

import { ask, openContender } from '../decisions/contenders.mjs'
import { keyAt } from '../decisions/loads.mjs'
import { childOptions, finishChild } from '../run/child.mjs'
import { median } from '../run/median.mjs'
import { spin } from '../run/spin.mjs'

const { name, keys, seed } = childOptions()
const promise = { limit: 100, windowMs: 86_400_000, capacity: keys, maxBytes: 64 << 20 }
const batch = 64
const attackers = 100
const honest = 1_000

// an odd factor visits all 2^24 indices once, so that floods never repeat a key and are not ordered
const scatter = 0x9e3779b1
const floodKey = (call) => keyAt((Math.imul(call, scatter) + seed) & 0xffffff)

async function rehearse() {
  await spin(await openContender(name, promise), floodKey, 0, Math.min(keys, 50_000))
}

await rehearse()
globalThis.gc()
const rssBefore = process.memoryUsage().rss
const opened = await openContender(name, promise)
// 30 % of the limit, spread over the flood
const honestTakes = Math.max(1, Math.floor(0.3 * opened.limit))
for (let who = 0; who < attackers; who++) {
  for (let call = 0; call <= opened.limit; call++) await ask(opened, `attacker:${who}`)
}

let readmitted = 0
let falselyDenied = 0
const gaps = new Float64Array(Math.ceil(keys / batch))
const gapsCpu = new Float64Array(gaps.length)

async function visit() {
  for (let who = 0; who < attackers; who++) if (await ask(opened, `attacker:${who}`)) readmitted++
  for (let who = 0; who < honest; who++) if (!(await ask(opened, `honest:${who}`))) falselyDenied++
}

function cpuUs() {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Floods up to `end` and returns the CPU time used, in microseconds. */
async function flood(from, end) {
  const started = cpuUs()
  let cpuMark = started
  let mark = performance.now()
  for (let call = from; call < end; call += batch) {
    const answer = spin(opened, floodKey, call, Math.min(batch, end - call))
    if (opened.contender.awaited) await answer
    const now = performance.now()
    const cpuNow = cpuUs()
    gaps[call / batch] = now - mark
    gapsCpu[call / batch] = (cpuNow - cpuMark) / 1_000
    mark = now
    cpuMark = cpuNow
  }
  return cpuMark - started
}

const step = Math.ceil(keys / honestTakes / batch) * batch
let spentUs = 0
for (let from = 0; from < keys; from += step) {
  await visit()
  spentUs += await flood(from, Math.min(keys, from + step))
}
for (let who = 0; who < attackers; who++) if (await ask(opened, `attacker:${who}`)) readmitted++

const worst = gaps.indexOf(gaps.reduce((most, gap) => Math.max(most, gap), 0))
const counts = opened.contender.counts !== false
finishChild({
  nsPerKey: (spentUs * 1_000) / keys,
  rssGrowthMiB: Math.max(0, process.resourceUsage().maxRSS / 1_024 - rssBefore / 2 ** 20),
  worstStallMs: gaps[worst] - median(gaps),
  worstStallCpuMs: gapsCpu[worst],
  readmittedPercent: counts ? (readmitted * 100) / (attackers * (Math.ceil(keys / step) + 1)) : 100,
  falselyDeniedPercent: (falselyDenied * 100) / (honest * Math.ceil(keys / step)),
})
