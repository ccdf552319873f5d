import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { byHeader, createLimiter, type PolicyInput, rateLimit } from '@sluice/express'
import { createQuotas, type Quotas, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'
import express from 'express'

let clock: FakeClock
let quotas: Quotas

beforeEach(() => {
  clock = new FakeClock()
  quotas = createQuotas(new MemoryLedger(clock), { clock })
})
afterEach(() => quotas.close())

function monthly(limit: number): PolicyInput {
  return quota({ name: 'monthly', limit, per: 'month', backend: quotas })
}

test('a rate limit and a quota are taken together or not at all, and the denying policy is reported', async () => {
  const burst = { name: 'burst', limit: 3, window: '1s', algorithm: 'fixed-window' } as const
  const limiter = createLimiter({ policies: [burst, monthly(5)], clock })
  const taken: string[] = []
  for (let second = 0; second < 2; second++) {
    for (let request = 0; request < 5; request++) {
      const { allowed, binding } = await limiter.take('acme')
      taken.push(allowed ? 'allowed' : binding.policy.name)
    }
    clock.advance(1_000)
  }
  const first = ['allowed', 'allowed', 'allowed', 'burst', 'burst']
  // the burst limit refunded the units that the quota denied
  expect(taken).toEqual([...first, 'allowed', 'allowed', 'monthly', 'monthly', 'monthly'])
  expect(await quotas.balance('acme')).toMatchObject({ used: 5, left: 0 })
  limiter.close()
})

test('a client that changes plans keeps its usage, in both directions', async () => {
  const app = express()
  const plans = { free: [monthly(10)], pro: [monthly(200)] }
  const plan = (req: express.Request): 'free' | 'pro' => (req.get('x-plan') === 'pro' ? 'pro' : 'free')
  app.use(rateLimit({ key: byHeader('x-key'), plans, plan, clock }))
  app.get('/', (_req, res) => {
    res.send('ok')
  })
  const server = createServer(app)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const passed = async (name: string, times: number): Promise<number> => {
    let count = 0
    for (let asked = 0; asked < times; asked++) {
      const { status } = await fetch(url, { headers: { 'x-key': 'acme', 'x-plan': name } })
      if (status === 200) count++
    }
    return count
  }
  try {
    expect(await passed('free', 12)).toBe(10)
    expect(await passed('pro', 30)).toBe(30)
    expect(await passed('free', 2)).toBe(0)
    expect(await quotas.balance('acme')).toMatchObject({ used: 40 })
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
