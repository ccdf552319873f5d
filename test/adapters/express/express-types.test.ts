import { expect, test } from '@jest/globals'
import { byAll, byIp, byPrincipal, inflightLimit, rateLimit } from '@sluice/express'
import express, { type Request, type Response } from 'express'
import request from 'supertest'

test('hooks may declare the request and response types of their route', async () => {
  type Named = Request<{ name: string }>
  type WithUser = Response<unknown, { user: number }>
  const settled: number[] = []
  const key = byAll<Named>(
    byIp(),
    byPrincipal((req) => req.params.name),
  )
  const settle = (_req: Named, res: WithUser): undefined => void settled.push(res.locals.user)
  const limit = rateLimit({ limit: 1, window: '1m', key, cost: { reserve: 1, settle } })
  const cap = inflightLimit({ limit: 9, weight: (req: Named) => req.params.name.length })
  const app = express()
  app.get('/:name', limit, cap, (_req, res: WithUser) => {
    res.locals.user = 7
    res.send('ok')
  })
  const statuses = []
  for (const path of ['/ann', '/bob', '/ann']) statuses.push((await request(app).get(path)).status)
  expect([statuses, settled]).toEqual([
    [200, 200, 429],
    [7, 7],
  ])
})

test('hooks that declare other parameter types do not compile', () => {
  // @ts-expect-error a key source receives a request
  const key = (): unknown => rateLimit({ limit: 1, window: '1m', key: (path: string) => path })
  // @ts-expect-error skip receives a request, too
  const skip = (): unknown => inflightLimit({ limit: 1, skip: (id: number) => id > 0 })
  expect([typeof key, typeof skip]).toEqual(['function', 'function'])
})

test('plans are checked by their names', () => {
  const free = [{ limit: 1, window: '1m' }] as const
  rateLimit({ plans: { free, pro: free }, plan: (req) => (req.get('x-pro') ? 'pro' : undefined) })
  // @ts-expect-error: there is no plan of this name
  rateLimit({ plans: { free, pro: free }, plan: () => 'gold' })
  const named: Record<string, typeof free> = { free }
  rateLimit({ plans: named, plan: async (req) => req.get('x-plan') })
  expect(rateLimit).toBeDefined()
})
