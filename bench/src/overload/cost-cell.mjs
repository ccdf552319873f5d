// Measures what a cap costs per request in one process: contenders take short turns in random order.
import { createInflightLimiter } from '@sluice/limiter-core'
import { adaptive, prioritizedInflight } from '@sluice/overload'
import { childOptions, finishChild } from '../run/child.mjs'
import { seededRandom, shuffled } from '../run/random.mjs'

const { calls, turns } = childOptions()
const limit = 100
const queue = { max: 24, maxWaitMs: 500 }
const opened = [
  ['fixed cap', { limit }, undefined],
  ['adaptive', { limit: adaptive() }, undefined],
  ['adaptive, priority', { limit: adaptive(), backend: prioritizedInflight() }, { priority: 'high' }],
  [
    'adaptive, priority, fairBy, queue',
    { limit: adaptive(), backend: prioritizedInflight({ queue }) },
    { priority: 'high', client: 'x' },
  ],
].map(([name, options, asked]) => ({ name, asked, cap: createInflightLimiter({ name, ...options }) }))

const random = seededRandom(1)
const results = []
for (let turn = -1; turn < turns; turn++) {
  const ns = {}
  for (const { name, cap, asked } of shuffled(opened, random)) ns[name] = nsPerRequest(cap, asked)
  // the first turn compiles the code
  if (turn >= 0) results.push(ns)
}
finishChild({ names: opened.map(({ name }) => name), results })

function nsPerRequest(cap, asked) {
  const from = process.hrtime.bigint()
  for (let call = 0; call < calls; call++) {
    const permit = cap.acquire('', asked)
    if (permit === undefined || permit instanceof Promise) throw new Error('a cap with free places gave no permit')
    permit.release()
  }
  return Number(process.hrtime.bigint() - from) / calls
}
