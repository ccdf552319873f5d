// Takes of one hot key by limiters of different forms, and by MemoryStore of express-rate-limit, in turns of one process.
import { createLimiter, limitOverrides, memoryBackend } from '@sluice/limiter-core'
import { MemoryStore } from 'express-rate-limit'
import { childOptions, finishChild } from '../run/child.mjs'

const { rounds, takes } = childOptions()
const plain = { name: 'p1', limit: 1_000_000_000, window: '1h' }
// holds and turns have smaller largest limits
const smaller = { ...plain, limit: 1_000_000 }
const several = (count) => Array.from({ length: count }, (_, index) => ({ ...plain, name: `p${index + 1}` }))

const limiters = {
  one: limiterOf([plain]),
  two: limiterOf(several(2)),
  five: limiterOf(several(5)),
  shadow: limiterOf([{ ...plain, mode: 'shadow' }]),
  hold: limiterOf([{ ...smaller, maxHoldMs: '1m' }]),
  ban: limiterOf([{ ...plain, ban: { after: 5, within: '1m', for: '1m' } }]),
  book: limiterOf([{ ...smaller, retry: 'booked' }]),
  override: limiterOf([{ ...plain, overrides: limitOverrides({ limits: { client: 2_000_000_000 } }) }]),
  observer: limiterOf([plain], [{ decided() {} }]),
}
const store = new MemoryStore()
store.init({ windowMs: 3_600_000 })

const ns = { store: [], ...Object.fromEntries(Object.keys(limiters).map((form) => [form, []])) }
for (let round = 0; round < rounds; round++) {
  for (const [form, limiter] of Object.entries(limiters)) ns[form].push(takeEach(limiter))
  ns.store.push(await incrementEach())
}
store.shutdown()
finishChild(Object.fromEntries(Object.entries(ns).map(([form, each]) => [form, Math.min(...each)])))

function limiterOf(policies, observers) {
  return createLimiter({ policies, observers, backend: memoryBackend(), scope: 'processes' })
}

function takeEach(limiter) {
  const from = performance.now()
  for (let take = 0; take < takes; take++) limiter.take('client')
  return nsSince(from)
}

async function incrementEach() {
  const from = performance.now()
  // the store answers with a promise, which its caller awaits
  for (let take = 0; take < takes; take++) await store.increment('client')
  return nsSince(from)
}

function nsSince(from) {
  return ((performance.now() - from) * 1e6) / takes
}
