// A server of the page under a flood, and the cost of its updates with this number of viewers.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setImmediate as nextTurn, setTimeout as passed } from 'node:timers/promises'
import { createInsight, dashboard } from '@sluice/insight'
import { systemClock } from '@sluice/limiter-core/backend'
import { keyAt } from '../decisions/loads.mjs'
import { childOptions, finishChild, startChild } from '../run/child.mjs'
import { median } from '../run/median.mjs'
import { spreadOf } from '../run/spread.mjs'
import { cpuUs, decide, openLimiters } from './insight-state.mjs'

const { viewers, ms, perTurn } = childOptions()
const viewersFile = new URL('./insight-viewers.mjs', import.meta.url)

// the page sets only the timer of its updates, so the timer callback is the cost of an update
const updates = []
const clock = {
  ...systemClock,
  after: (delayMs, run) =>
    systemClock.after(delayMs, () => {
      const from = cpuUs()
      const at = performance.now()
      run()
      updates.push({ us: cpuUs() - from, wallUs: (performance.now() - at) * 1_000 })
    }),
}
const insight = createInsight()
const page = dashboard({ insight, clock })
const server = createServer((req, res) => page(req, res))
await once(server.listen(0, '127.0.0.1'), 'listening')
const watching = startChild(viewersFile, { viewers, port: server.address().port })
await once(watching, 'message')

async function receivedBytes() {
  watching.send('count')
  const [answer] = await once(watching, 'message')
  return answer.received
}

const limiters = openLimiters([insight])
let calls = 0
/** Decides as fast as possible if `perTurn` is above 0, and is idle otherwise. */
async function flood(forMs) {
  const endsAt = performance.now() + forMs
  if (perTurn === 0) return passed(forMs)
  while (performance.now() < endsAt) {
    for (let call = 0; call < perTurn; call++, calls++) decide(limiters, calls, keyAt(calls & 0xfffff))
    await nextTurn()
  }
}

await flood(Math.min(2_000, ms))
const receivedBefore = await receivedBytes()
updates.length = 0
const callsBefore = calls
const cpuBefore = cpuUs()
const startedAt = performance.now()
await flood(ms)
const tookMs = performance.now() - startedAt
const spentUs = cpuUs() - cpuBefore
const received = (await receivedBytes()) - receivedBefore
watching.kill()
finishChild({
  updates: updates.length,
  updateUs: spreadOf(updates.map(({ us }) => us)),
  updateWallUs: median(updates.map(({ wallUs }) => wallUs)),
  percent: updates.reduce((sum, { us }) => sum + us, 0) / 10 / tookMs || 0,
  processPercent: spentUs / 10 / tookMs,
  decisionsPerSecond: ((calls - callsBefore) * 1_000) / tookMs,
  received,
})
