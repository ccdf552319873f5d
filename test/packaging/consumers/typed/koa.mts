import type { AddressInfo } from 'node:net'
import { byHeader, inflightLimit, rateLimit } from '@sluice/koa'
import Koa from 'koa'

const app = new Koa()
app.use(inflightLimit({ limit: 200, holdUntil: 'handler' }))
app.use(rateLimit({ limit: 1, window: '1m', key: byHeader('x-api-key'), skip: (ctx) => ctx.path === '/health' }))
app.use((ctx) => {
  ctx.body = 'hello'
})

const server = app.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
process.stdin.resume().once('end', () => server.close())
