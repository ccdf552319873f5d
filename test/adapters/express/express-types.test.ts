import { expect, test } from '@jest/globals'
import { byAll, byIp, byPrincipal, createSluice, inflightLimit, rateLimit } from '@sluice/express'
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

test('options of one policy do not compile next to several policies or plans', () => {
  const policies = [{ name: 'burst', limit: 1, window: '1m' }] as const
  const plans = { free: policies }
  const plan = (): 'free' => 'free'
  const refused = [
    // @ts-expect-error the name belongs into a policy
    () => rateLimit({ name: 'api', policies }),
    // @ts-expect-error a limit is a policy of its own
    () => rateLimit({ limit: 1, window: '1m', policies }),
    // @ts-expect-error the algorithm belongs into the policies of each plan
    () => rateLimit({ algorithm: 'gcra', plans, plan }),
    // @ts-expect-error policies belong into a plan
    () => rateLimit({ policies, plans, plan }),
    // @ts-expect-error shared settings change nothing about it
    () => createSluice().rateLimit({ name: 'api', policies }),
    // @ts-expect-error a limiter without a framework has the same options
    () => createSluice().limiter({ name: 'api', policies }),
  ]
  for (const make of refused) expect(make).toThrow('SLUICE_BAD_OPTION')
})
