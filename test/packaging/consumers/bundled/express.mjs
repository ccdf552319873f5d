import { inflightLimit, rateLimit } from '@sluice/express'
import express from 'express'
import { statusesOf } from './asked.mjs'

export function statuses() {
  const app = express()
  app.use(inflightLimit({ limit: 10 }))
  app.use(rateLimit({ limit: 1, window: '1m' }))
  app.get('/', (_req, res) => res.send('hello'))
  return statusesOf(app.listen(0, '127.0.0.1'))
}
