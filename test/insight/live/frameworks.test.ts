import { expect, it } from '@jest/globals'
import { rateLimit } from '@sluice/express'
import { sluice } from '@sluice/fastify'
import { createInsight } from '@sluice/insight'
import { byIp } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import express from 'express'
import fastify from 'fastify'
import request from 'supertest'

const POLICIES = [{ name: 'api', limit: 2, window: 60_000 }]

it('measures Express handlers by route, even if the limit is mounted before all routes', async () => {
  const clock = new FakeClock()
  const insight = createInsight({ clock, unique: { by: byIp(), per: 'route' } })
  const app = express()
  app.use(rateLimit({ policies: POLICIES, observers: [insight], clock }))
  app.get('/users/:id', (_req, res) => {
    clock.advance(40)
    res.send('ok')
  })
  for (let visit = 0; visit < 3; visit++) await request(app).get(`/users/${visit}`)
  clock.advance(1_000)
  const { routes, uniques, policies } = insight.snapshot()
  expect(routes).toMatchObject([{ route: '/users/:id', method: 'GET', p50: 40, p99: 40 }])
  expect(uniques.byRoute).toMatchObject([{ route: '/users/:id', method: 'GET', hour: 1 }, {}])
  expect(policies[0].total).toMatchObject({ allowed: 2, denied: 1 })
  await insight.close()
})

it('measures Fastify handlers', async () => {
  const clock = new FakeClock()
  const insight = createInsight({ clock })
  const app = fastify()
  await app.register(sluice, { rateLimit: { policies: POLICIES }, observers: [insight], clock })
  app.get('/users/:id', async () => {
    clock.advance(40)
    return 'ok'
  })
  await app.ready()
  for (let visit = 0; visit < 3; visit++) await request(app.server).get(`/users/${visit}`)
  clock.advance(1_000)
  expect(insight.snapshot().routes).toMatchObject([{ route: '/users/:id', method: 'GET', p50: 40 }])
  await app.close()
  await insight.close()
})
