// Contenders in a separate process, one each except in a smoke test. Runs a closed loop for each message.

import { proveDenial } from '../decisions/contenders.mjs'
import { childOptions } from '../run/child.mjs'
import { clientContenders } from './client-contenders.mjs'
import { closedLoop } from './closed-loop.mjs'
import { redisContenders } from './redis-contenders.mjs'
import { openRedisLoad } from './redis-load.mjs'

const { names, port, seed } = childOptions()
const opened = {}
for (const [index, contender] of [...redisContenders, ...clientContenders].entries()) {
  const { name } = contender
  if (!names.includes(name)) continue
  // contenders do not share counts; the limit is large enough for leases, which are exact for small limits
  const proof = { limit: 100, windowMs: 3_600_000, scope: `proof-${index}-${process.pid}`, port }
  if (contender.counts !== false) await proveDenial(name, await contender.open(proof), proof.limit)
  opened[name] = await contender.open({ limit: 1e9, windowMs: 600_000, scope: `bench-${index}`, port })
}

const next = openRedisLoad(seed)
process.on('message', async ({ name, ...extent }) => {
  const result = await closedLoop(opened[name], next, extent)
  if (result.passed !== result.decisions) {
    throw new Error(`${name} denied ${result.decisions - result.passed} of ${result.decisions} below its limit`)
  }
  process.send(result)
})
process.send('ready')
