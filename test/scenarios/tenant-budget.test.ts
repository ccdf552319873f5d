import { beforeEach, describe, expect, test } from '@jest/globals'
import { byHeader, createSluice } from '@sluice/express'
import { FakeClock, until } from '@sluice/testkit'
import express, { type Express, type Request, type Response } from 'express'
import request from 'supertest'
import { gate, impatient, served } from './served.ts'

const cost = { reserve: 100, settle: (_req: Request, res: Response) => res.locals.tokens }

describe('a tenant with a token budget', () => {
  let clock: FakeClock
  let app: Express

  beforeEach(() => {
    clock = new FakeClock()
    app = express()
    const { rateLimit } = createSluice({ clock })
    const tokens = {
      name: 'tokens',
      algorithm: 'token-bucket',
      limit: 600,
      window: '1m',
      unit: 'tokens',
      cost,
    } as const
    app.use(rateLimit({ key: byHeader('x-tenant'), policies: [tokens, { name: 'calls', limit: 100, window: '1m' }] }))
    app.get('/chat', (req, res) => {
      res.locals.tokens = Number(req.query.tokens)
      res.send('an answer')
    })
  })

  const ask = (tokens: number, tenant = 'acme') => request(app).get(`/chat?tokens=${tokens}`).set('x-tenant', tenant)
  const left = async (tenant: string): Promise<unknown> => {
    const { headers } = await ask(100, tenant)
    return Number(/"tokens";r=(\d+)/.exec(headers.ratelimit)?.[1]) + 100
  }

  test('is charged the actual cost of a response, not the reservation', async () => {
    await ask(30)
    expect(await left('acme')).toBe(570)
  })

  test('a response that costs more than the remaining budget becomes debt, and the next waits until a reservation fits', async () => {
    expect((await ask(900)).status).toBe(200)
    const denied = await ask(10)
    expect(denied.status).toBe(429)
    expect(denied.body['violated-policies']).toEqual(['tokens'])
    // 900 used + 100 to reserve - 600 = 400 tokens at 10 a second
    expect(denied.headers['retry-after']).toBe('40')
    clock.advance(39_999)
    expect((await ask(10)).status).toBe(429)
    clock.advance(1)
    expect((await ask(10)).status).toBe(200)
  })

  test('a denial is not charged as a call either', async () => {
    await ask(900)
    for (let denied = 0; denied < 200; denied++) await ask(10)
    clock.advance(60_000)
    expect((await ask(10)).status).toBe(200)
  })

  test('has headers with the unit in machine-readable form', async () => {
    const { headers } = await ask(1)
    expect(headers['ratelimit-policy']).toBe('"tokens";q=600;qu="tokens";w=60, "calls";q=100;w=60')
  })

  test('does not affect other tenants', async () => {
    await ask(5_000)
    expect((await ask(10, 'globex')).status).toBe(200)
  })

  test("with settleOn 'always' is charged for tokens sent before the client disconnected", async () => {
    const { rateLimit } = createSluice({ clock })
    const always = { ...cost, settleOn: 'always' } as const
    const limit = rateLimit({ name: 'tokens', algorithm: 'token-bucket', limit: 600, window: '1m', cost: always })
    const streaming = express()
    const never = gate()
    let closed = false
    streaming.get('/chat', limit, async (_req, res) => {
      res.locals.tokens = 250
      res.once('close', () => {
        closed = true
      })
      res.write('the first 250 tokens')
      await never.opened
    })
    await served(streaming, async (url) => {
      const client = impatient(`${url}/chat`)
      await new Promise((resolve) => client.once('response', resolve))
      client.destroy()
      await until(() => closed, { what: 'the client left' })
      expect(await Promise.resolve(limit.limiter.peek('127.0.0.1')).then(({ binding }) => binding.remaining)).toBe(350)
    })
  })
})
