import { expect, test } from '@jest/globals'
import { inflightLimit, rateLimit } from '@sluice/express'
import express, { type Express } from 'express'
import request from 'supertest'
import { express4 } from './express/express4.ts'

const limit = { limit: 5, window: '1m' } as const

test.each<[string, () => Express]>([
  ['Express 5', express],
  ['Express 4', express4],
])('%s: handlers of an application and of a mounted one see the decisions of both', async (_, create) => {
  const [app, mounted] = [create(), create()]
  app.use(rateLimit({ ...limit, name: 'outer' }))
  mounted.use(rateLimit({ ...limit, name: 'inner' }))
  mounted.get('/', (req, res) => {
    res.json(req.sluice?.decisions.map(({ binding }) => binding.policy.name))
  })
  app.use('/mounted', mounted)
  app.get('/', (req, res) => {
    res.json(req.sluice?.decisions.map(({ binding }) => binding.policy.name))
  })
  expect((await request(app).get('/mounted')).body).toEqual(['outer', 'inner'])
  expect((await request(app).get('/')).body).toEqual(['outer'])
})

test('requests of one application at the same time have separate lifecycles', async () => {
  const app = express()
  app.use(inflightLimit({ limit: 10 }))
  app.use(rateLimit({ ...limit, key: (req) => String(req.query.user) }))
  app.get('/', async (req, res) => {
    await new Promise((resolve) => setImmediate(resolve))
    res.json(req.sluice?.decision?.binding.remaining)
  })
  const users = ['a', 'b', 'a', 'b', 'c']
  const answers = await Promise.all(users.map((user) => request(app).get(`/?user=${user}`)))
  expect(answers.map(({ body }) => body).sort()).toEqual([3, 3, 4, 4, 4])
})

test('an application whose requests cannot be extended has a property on each request', async () => {
  const app = express()
  Object.preventExtensions(app.request)
  app.use(rateLimit(limit))
  app.get('/', (req, res) => {
    res.json([Object.hasOwn(req, 'sluice'), req.sluice?.decision?.allowed])
  })
  expect((await request(app).get('/')).body).toEqual([true, true])
})

test('a request without the state of a stream has a property of its own', async () => {
  const limiter = rateLimit(limit)
  const req = {
    headers: {},
    method: 'GET',
    httpVersionMajor: 1,
    socket: { remoteAddress: '192.0.2.1' },
    ip: '192.0.2.1',
  }
  const headers = new Map<string, string>()
  const res = { headersSent: false, setHeader: (name: string, value: string) => headers.set(name, value) }
  await new Promise<void>((resolve) => limiter(req as never, res as never, () => resolve()))
  expect((req as { sluice?: { decision: { allowed: boolean } } }).sluice?.decision.allowed).toBe(true)
  expect(headers.get('RateLimit')).toBe('"default";r=4;t=60')
})
