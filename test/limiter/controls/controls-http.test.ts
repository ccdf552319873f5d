import { expect, test } from '@jest/globals'
import { type RateLimitOptions, rateLimit, slowDown } from '@sluice/express'
import { FakeClock } from '@sluice/testkit'
import express, { type Request, type RequestHandler, type Response } from 'express'
import request from 'supertest'
import { endedAfterEach } from '../../services/for-tests.ts'
import { Operator } from './controlled.ts'

const MINUTE = { window: '1m', algorithm: 'fixed-window' } as const
const closes = endedAfterEach<() => void>((close) => close())

function served(options: object) {
  const operator = new Operator()
  const clock = new FakeClock()
  const shared = { clock, observers: [operator], key: (req: Request) => req.get('x-user') ?? '' }
  const limit = rateLimit({ ...shared, ...options } as object as RateLimitOptions<Request, Response>)
  closes.push(() => limit.close())
  const app = express()
  app.use(limit, (_req, res) => void res.send('ok'))
  const ask = (user: string) => request(app).get('/').set('x-user', user)
  return { operator, ask }
}

const ofHeaders = ({ status, headers }: { status: number; headers: Record<string, string> }) => ({
  status,
  policy: headers['ratelimit-policy'],
  left: headers.ratelimit,
  retryAfter: headers['retry-after'],
})

test('a single policy: no headers in shadow or off, and headers with the changed limit', async () => {
  const { operator, ask } = served({ name: 'api', limit: 2, ...MINUTE })
  await ask('a')
  operator.setControls({ api: { mode: 'shadow' } })
  expect(ofHeaders(await ask('a'))).toEqual({ status: 200 })
  expect(ofHeaders(await ask('a'))).toEqual({ status: 200 })
  operator.setControls({ api: { mode: 'off' } })
  expect(ofHeaders(await ask('a'))).toEqual({ status: 200 })
  operator.setControls({ api: { limit: 5 } })
  expect(ofHeaders(await ask('a'))).toEqual({ status: 200, policy: '"api";q=5;w=60', left: '"api";r=2;t=60' })
  operator.release()
  expect(ofHeaders(await ask('a'))).toMatchObject({ status: 429, policy: '"api";q=2;w=60', retryAfter: '60' })
})

test('with two policies, only the enforced one appears in headers', async () => {
  const policies = [
    { name: 'one', limit: 1, ...MINUTE },
    { name: 'two', limit: 2, ...MINUTE },
  ]
  const { operator, ask } = served({ policies })
  operator.setControls({ one: { mode: 'off' } })
  expect(ofHeaders(await ask('a'))).toEqual({ status: 200, policy: '"two";q=2;w=60', left: '"two";r=1;t=60' })
  operator.setControls({ one: { mode: 'shadow' } })
  expect(ofHeaders(await ask('a'))).toEqual({ status: 200, policy: '"two";q=2;w=60', left: '"two";r=0;t=60' })
})

test('a blocked client gets 429 with the end of the block', async () => {
  const { operator, ask } = served({ name: 'api', limit: 2, ...MINUTE })
  operator.setControls({}, { villain: 90_000 })
  expect(ofHeaders(await ask('villain'))).toMatchObject({ status: 429, retryAfter: '90' })
  expect(ofHeaders(await ask('a'))).toMatchObject({ status: 200 })
})

test('a request settled after a switch is refunded where it was charged, and only what was charged', async () => {
  const operator = new Operator()
  const clock = new FakeClock()
  const limit = rateLimit({ name: 'api', limit: 3, ...MINUTE, clock, observers: [operator], key: () => 'all' })
  closes.push(() => limit.close())
  const app = express()
  const refunding: RequestHandler = async (req, res) => {
    await req.sluice?.refund()
    res.send('ok')
  }
  app.use(limit, refunding)
  operator.setControls({ api: { mode: 'off' } })
  await request(app).get('/')
  operator.setControls({ api: { mode: 'shadow' } })
  for (let n = 0; n < 5; n++) await request(app).get('/')
  operator.release()
  expect((await request(app).get('/')).headers.ratelimit).toBe('"api";r=2;t=60')
})

test('a slow-down in shadow or off delays no request', async () => {
  const operator = new Operator()
  const clock = new FakeClock()
  const slow = slowDown({
    name: 'slow',
    after: 1,
    delayMs: 60_000,
    maxDelayMs: 60_000,
    ...MINUTE,
    clock,
    observers: [operator],
  })
  closes.push(() => slow.close())
  const app = express()
  app.use(slow, (_req, res) => void res.send('ok'))
  await request(app).get('/')
  operator.setControls({ slow: { mode: 'shadow' } })
  expect((await request(app).get('/')).status).toBe(200)
  operator.setControls({ slow: { mode: 'off' } })
  expect((await request(app).get('/')).status).toBe(200)
})
