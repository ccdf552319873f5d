import { expect, test } from '@jest/globals'
import { DENY, type RateLimitOptions, rateLimit } from '@sluice/express'
import { FakeClock } from '@sluice/testkit'
import express, { type Request, type Response } from 'express'
import request from 'supertest'
import { Operator } from '../../limiter/controls/controlled.ts'
import { endedAfterEach } from '../../services/for-tests.ts'

const MINUTE = { window: '1m', algorithm: 'fixed-window' } as const
const closes = endedAfterEach<() => void>((close) => close())

function served(options: object) {
  const operator = new Operator()
  const shared = { clock: new FakeClock(), observers: [operator] }
  const limit = rateLimit({ ...shared, ...options } as object as RateLimitOptions<Request, Response>)
  closes.push(() => limit.close())
  const app = express()
  app.use(limit, (_req, res) => void res.send('ok'))
  return { operator, app }
}

test('a policy in shadow mode does not deny by key either', async () => {
  const { operator, app } = served({ name: 'api', limit: 2, key: () => DENY, ...MINUTE })
  expect((await request(app).get('/')).status).toBe(429)
  operator.setControls({ api: { mode: 'shadow' } })
  expect((await request(app).get('/')).status).toBe(200)
  operator.setControls({ api: { mode: 'off' } })
  expect((await request(app).get('/')).status).toBe(200)
  operator.release()
  expect((await request(app).get('/')).status).toBe(429)
})

test('a key that one policy in shadow mode denies is counted by the others', async () => {
  const policies = [
    { name: 'one', limit: 2, key: () => DENY, ...MINUTE },
    { name: 'two', limit: 2, key: () => 'all', ...MINUTE },
  ]
  const { operator, app } = served({ policies })
  operator.setControls({ one: { mode: 'shadow' } })
  expect((await request(app).get('/')).headers.ratelimit).toBe('"two";r=1;t=60')
})

test('preflights of a blocked key are blocked', async () => {
  const { operator, app } = served({ name: 'api', limit: 9, key: () => 'villain', ...MINUTE })
  operator.setControls({}, { villain: 5_000 })
  const preflight = request(app)
    .options('/')
    .set('origin', 'https://a.example')
    .set('access-control-request-method', 'GET')
  expect((await preflight).status).toBe(429)
})

test('a policy in shadow mode that is enforced denies, has headers, and denies by key', async () => {
  const key = (req: Request): string | typeof DENY => (req.headers.bad === undefined ? 'all' : DENY)
  const { operator, app } = served({ name: 'api', limit: 2, mode: 'shadow', key, ...MINUTE })
  const answers = async (bad?: string) => {
    const asked = request(app).get('/')
    const { status, headers } = await (bad === undefined ? asked : asked.set('bad', bad))
    return [status, headers.ratelimit, headers['ratelimit-policy']]
  }
  expect(await answers()).toEqual([200, undefined, undefined])
  operator.setControls({ api: { mode: 'enforce' } })
  expect(await answers()).toEqual([200, '"api";r=0;t=60', '"api";q=2;w=60'])
  expect((await answers())[0]).toBe(429)
  expect((await answers('yes'))[0]).toBe(429)
  operator.setControls({ api: { mode: 'enforce' } }, { all: 5_000 })
  expect((await answers())[0]).toBe(429)
  operator.release()
  expect(await answers()).toEqual([200, undefined, undefined])
})
