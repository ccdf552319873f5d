// One build in a separate process: CPU ns of a sliding-window decision on one key.
import { createRequire } from 'node:module'
import { childOptions, finishChild } from '../run/child.mjs'
import { handedClock } from './map-contenders.mjs'

const { path, handed, ms } = childOptions()
const { createLimiter, memoryBackend } = createRequire(import.meta.url)(path)
const batch = 1_000

function open(limit) {
  const policies = [{ name: 'api', limit, window: 600_000, algorithm: 'sliding-window' }]
  const limiter = createLimiter({ policies, backend: memoryBackend() })
  const tick = handedClock()
  return handed ? (key) => limiter.take(key, 1, tick()).allowed : (key) => limiter.take(key).allowed
}

function spin(take) {
  let passed = 0
  for (let call = 0; call < batch; call++) if (take('ip:203.0.113.7')) passed++
  return passed
}

function spinFor(take, durationMs) {
  const endsAt = performance.now() + durationMs
  let calls = 0
  while (performance.now() < endsAt) {
    if (spin(take) !== batch) throw new Error('denied a key far below its limit')
    calls += batch
  }
  return calls
}

// both builds must deny before they are timed
const small = open(2)
const answers = [small('a'), small('a'), small('a'), small('b')]
if (answers.join() !== 'true,true,false,true') throw new Error(`${path} does not count: ${answers.join()}`)

const take = open(1e9)
spinFor(take, ms / 2)
const before = process.cpuUsage()
const calls = spinFor(take, ms)
const { user, system } = process.cpuUsage(before)
finishChild(((user + system) * 1_000) / calls)
