import { expect, test } from '@jest/globals'
import { type RequestSluice, rateLimit } from '@sluice/express'
import express, { type Request } from 'express'
import supertest from 'supertest'

const requests = { name: 'requests', limit: 10, window: '1h' } as const
const tokens = {
  name: 'tokens',
  limit: 1_000,
  window: '1h',
  maxHoldMs: '1m',
  cost: { reserve: 100, settle: () => undefined },
} as const

/** Returns the units that are left after a request whose handler uses its hold. */
async function leftAfter(use: (sluice: RequestSluice) => unknown): Promise<Record<string, number>> {
  const limit = rateLimit({ policies: [requests, tokens], key: () => 'a' })
  const app = express()
  app.get('/', limit, async (req: Request, res) => {
    await use(req.sluice as RequestSluice)
    res.json({})
  })
  await supertest(app).get('/').expect(200)
  const { verdicts } = await limit.limiter.peek('a')
  limit.close()
  return Object.fromEntries(verdicts.map(({ policy, remaining }) => [policy.name, remaining]))
}

test('a request settles, extends and releases what it holds, and nothing else', async () => {
  expect(await leftAfter(({ hold }) => hold?.settle(30))).toEqual({ requests: 9, tokens: 970 })
  expect(await leftAfter(({ hold }) => hold?.settle(30, 'tokens'))).toEqual({ requests: 9, tokens: 970 })
  expect(await leftAfter(({ hold }) => hold?.release())).toEqual({ requests: 9, tokens: 1_000 })
  const extended = await leftAfter(async ({ hold }) => {
    expect(await hold?.extend(900)).toBe(true)
    expect(await hold?.extend(1)).toBe(false)
    return hold?.settle(950)
  })
  expect(extended).toEqual({ requests: 9, tokens: 50 })
  expect(await leftAfter(() => undefined)).toEqual({ requests: 9, tokens: 900 })
})

test('a request without held units has no hold', async () => {
  const limit = rateLimit({ ...requests, key: () => 'a' })
  const app = express()
  app.get('/', limit, (req: Request, res) => void res.json({ holds: req.sluice?.hold !== undefined }))
  const { body } = await supertest(app).get('/')
  expect(body).toEqual({ holds: false })
  limit.close()
})
