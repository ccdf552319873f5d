import { expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/express'
import express from 'express'
import request from 'supertest'

test.each([2 ** 53, 1e308, Number.POSITIVE_INFINITY])(
  'a cost of %p never fits, and is not replaced by 1',
  async (cost) => {
    const app = express()
    app.use(rateLimit({ limit: 10, window: '1m', cost: () => cost }))
    app.get('/', (_req, res) => void res.send('ok'))
    const { status, headers } = await request(app).get('/')
    expect([status, headers['retry-after']]).toEqual([429, undefined])
  },
)
