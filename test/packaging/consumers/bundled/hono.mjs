import { inflightLimit, rateLimit } from '@sluice/hono'
import { Hono } from 'hono'
import { askedTwice } from './asked.mjs'

export function statuses() {
  const app = new Hono()
  app.use(inflightLimit({ limit: 10 }))
  app.use(rateLimit({ limit: 1, window: '1m' }))
  app.get('/', (c) => c.text('hello'))
  return askedTwice(() => app.request('/', {}, { ip: '203.0.113.7' }))
}
