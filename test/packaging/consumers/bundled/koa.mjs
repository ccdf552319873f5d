import { inflightLimit, rateLimit } from '@sluice/koa'
import Koa from 'koa'
import { statusesOf } from './asked.mjs'

export function statuses() {
  const app = new Koa()
  app.use(inflightLimit({ limit: 10 }))
  app.use(rateLimit({ limit: 1, window: '1m' }))
  app.use((ctx) => {
    ctx.body = 'hello'
  })
  return statusesOf(app.listen(0, '127.0.0.1'))
}
