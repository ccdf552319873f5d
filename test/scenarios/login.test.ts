import { beforeEach, describe, expect, test } from '@jest/globals'
import { createSluice } from '@sluice/express'
import { FakeClock, until } from '@sluice/testkit'
import express, { type Express, type Request, type Response } from 'express'
import request from 'supertest'
import { gate, impatient, served } from './served.ts'

const failures = { reserve: 1, settle: (_req: Request, res: Response) => (res.statusCode === 401 ? 1 : 0) }

describe('a login form under attack', () => {
  let clock: FakeClock
  let app: Express

  beforeEach(() => {
    clock = new FakeClock()
    const { rateLimit } = createSluice({ clock })
    app = express()
    app.set('trust proxy', 'loopback')
    const limit = rateLimit({ name: 'login', limit: 5, window: '15m', algorithm: 'fixed-window', cost: failures })
    app.post('/login', limit, express.json(), (req, res) => {
      res.sendStatus(req.body.password === 'sesame' ? 200 : 401)
    })
  })

  const logIn = (password: string, from = '203.0.113.9') =>
    request(app).post('/login').set('X-Forwarded-For', from).send({ password })

  test('five wrong passwords are answered; the sixth is not checked, even if it is right', async () => {
    for (let tried = 0; tried < 5; tried++) expect((await logIn(`guess ${tried}`)).status).toBe(401)
    const denied = await logIn('sesame')
    expect(denied.status).toBe(429)
    expect(denied.headers['retry-after']).toBe('900')
    expect(denied.body['violated-policies']).toEqual(['login'])
  })

  test('a user with the right password may log in without limit', async () => {
    for (let times = 0; times < 20; times++) expect((await logIn('sesame')).status).toBe(200)
  })

  test('an attack from one address does not lock out other addresses', async () => {
    for (let tried = 0; tried < 6; tried++) await logIn('guess')
    expect((await logIn('sesame', '198.51.100.4')).status).toBe(200)
  })

  test('a forged X-Forwarded-For before the real one allows no further guess', async () => {
    for (let tried = 0; tried < 5; tried++) await logIn('guess', `192.0.2.${tried}, 203.0.113.9`)
    expect((await logIn('guess', '192.0.2.77, 203.0.113.9')).status).toBe(429)
  })

  test('an IPv6 customer gets no further guesses from another address of their /56', async () => {
    for (let tried = 0; tried < 5; tried++) await logIn('guess', `2001:db8:1:2${tried}::1`)
    expect((await logIn('guess', '2001:db8:1:2f::1')).status).toBe(429)
    expect((await logIn('guess', '2001:db8:1:100::1')).status).toBe(401)
  })

  test('the owner is admitted again after a quarter of an hour, but not one ms earlier', async () => {
    for (let tried = 0; tried < 6; tried++) await logIn('guess')
    clock.advance(15 * 60_000 - 1)
    expect((await logIn('sesame')).status).toBe(429)
    clock.advance(1)
    expect((await logIn('sesame')).status).toBe(200)
  })

  test('disconnecting before the response does not refund a guess', async () => {
    const { rateLimit } = createSluice({ clock })
    const limit = rateLimit({ name: 'login', limit: 5, window: '15m', algorithm: 'fixed-window', cost: failures })
    const leaving = express()
    const held = gate()
    let arrived = 0
    let left = 0
    leaving.post('/login', limit, async (_req, res) => {
      arrived++
      res.once('close', () => left++)
      await held.opened
      res.sendStatus(401)
    })
    await served(leaving, async (url) => {
      for (let tried = 1; tried <= 5; tried++) {
        const guess = impatient(`${url}/login`, 'POST')
        await until(() => arrived === tried, { what: 'the guess arrived' })
        guess.destroy()
        await until(() => left === tried, { what: 'the client left' })
      }
      held.open()
      expect((await fetch(`${url}/login`, { method: 'POST' })).status).toBe(429)
    })
  })
})
