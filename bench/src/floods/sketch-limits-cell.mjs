// One fixed-memory backend in a flood of random IPv6 addresses within one window: wrong decisions, and the cost.
import { createLimiter, memoryBackend } from '@sluice/limiter-core'
import { sketchBackend } from '@sluice/sketches/limits'
import { childOptions, finishChild } from '../run/child.mjs'

const { backend: kind, bytes, cells, conservative, limit, keys, seed } = childOptions()
const windowMs = 3_600_000
const honest = 1_000
const attackers = 100
// half of the limit each, spread over the window
const visits = limit / 2

// 2001:db8: and 96 random bits
const text = Buffer.from('2001:0db8:0000:0000:0000:0000:0000:0000', 'latin1')
const hex = Buffer.from('0123456789abcdef', 'latin1')
let word = seed | 1
let other = 0x9e3779b9

/** xorshift with two words: a period of at least 64 bits. */
function random() {
  const mixed = word ^ (word << 10)
  word = other
  other = other ^ (other >>> 10) ^ mixed ^ (mixed >>> 13)
  return other
}

/** Returns a fresh string, as a server receives it. */
function address() {
  for (let at = 10; at < 40; at += 10) {
    let bits = random()
    for (let digit = 0; digit < 8; digit++) {
      text[at + digit + (digit >> 2)] = hex[bits & 15]
      bits >>>= 4
    }
  }
  return text.latin1Slice(0, 39)
}

function cpuUs() {
  const { user, system } = process.cpuUsage()
  return user + system
}

function madeBackend() {
  if (kind === 'memory') return memoryBackend({ maxBytes: bytes })
  return sketchBackend({ bytes, cells, conservative, seed: `a seed for floods ${seed}` })
}

let alarmAt = 0
let flooded = 0
const backend = madeBackend()
const policies = [{ limit, window: windowMs }]
const limiter = createLimiter({ policies, backend, scope: 'flood' })
const watch = {
  event(name) {
    if (name === 'saturated') alarmAt ||= flooded
  },
}
backend.observe(watch)

let now = 1
let readmitted = 0
let denials = 0
const wronged = new Uint8Array(honest)
for (let who = 0; who < attackers; who++) for (let call = 0; call <= limit; call++) take(`attacker:${who}`)

function take(key) {
  return limiter.take(key, 1, { now }).allowed
}

function visit() {
  for (let who = 0; who < attackers; who++) if (take(`attacker:${who}`)) readmitted++
  for (let who = 0; who < honest; who++) {
    if (take(`honest:${who}`)) continue
    denials++
    wronged[who] = 1
  }
}

/** CPU time of creating the keys only. */
function madeUs(count) {
  const started = cpuUs()
  let length = 0
  for (let call = 0; call < count; call++) length += address().length
  if (length !== count * 39) throw new Error('no addresses')
  return cpuUs() - started
}

const rehearsed = Math.min(keys, 200_000)
madeUs(rehearsed)
const keyUs = madeUs(rehearsed) / rehearsed

let spentUs = 0
let stallMs = 0
let floodDenied = 0
const batch = 64
for (let turn = 0; turn < visits; turn++) {
  // the first visit is at the start of the window and the last one at its end
  visit()
  const until = Math.floor((keys * (turn + 1)) / (visits - 1))
  const started = cpuUs()
  while (flooded < Math.min(until, keys)) {
    const from = performance.now()
    for (let call = 0; call < batch; call++) if (!take(address())) floodDenied++
    flooded += batch
    now = 1 + (flooded / keys) * (windowMs - 2)
    stallMs = Math.max(stallMs, performance.now() - from)
  }
  spentUs += cpuUs() - started
}

finishChild({
  nsPerKey: (spentUs * 1_000) / flooded - keyUs * 1_000,
  stallMs,
  readmitted,
  deniedPercent: (denials * 100) / (honest * visits),
  wrongedPercent: (wronged.reduce((sum, one) => sum + one, 0) * 100) / honest,
  floodDeniedPercent: (floodDenied * 100) / flooded,
  alarmAt,
})
