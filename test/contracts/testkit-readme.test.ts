import { expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/express'
import { createLimiter } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import express from 'express'
import request from 'supertest'

// the examples in packages/testkit/README.md; the examples with Jest's timers are in
// test/limiter/jest-fake-timers.test.ts
test('a login is limited to 5 tries in 15 minutes', () => {
  const clock = new FakeClock()
  const login = createLimiter({
    policies: [{ name: 'login', limit: 5, window: '15m', algorithm: 'fixed-window' }],
    clock,
  })
  for (let tries = 0; tries < 5; tries++) expect(login.take('ann').allowed).toBe(true)
  expect(login.take('ann').retryAfterMs).toBe(900_000)
  clock.advance(900_000)
  expect(login.take('ann').allowed).toBe(true)
})

test('a fake clock moves the limit of a server', async () => {
  const clock = new FakeClock()
  const app = express()
  app.use(rateLimit({ limit: 5, window: '15m', algorithm: 'fixed-window', clock }))
  app.get('/', (_req, res) => {
    res.send('ok')
  })
  for (let requests = 0; requests < 5; requests++) await request(app).get('/').expect(200)
  await request(app).get('/').expect(429).expect('retry-after', '900')
  clock.advance(900_000)
  await request(app).get('/').expect(200)
})

test('limiters with separate clocks do not share their counts', () => {
  const once = () => createLimiter({ policies: [{ limit: 1, window: '1m' }], clock: new FakeClock() })
  expect([once().take('ann').allowed, once().take('ann').allowed]).toEqual([true, true])
})
