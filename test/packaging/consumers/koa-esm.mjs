import { rateLimit } from '@sluice/koa'
import Koa from 'koa'

const app = new Koa()
app.use(rateLimit({ limit: 1, window: '1m' }))
app.use((ctx) => {
  ctx.body = 'hello'
})

const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.stdin.resume().once('end', () => server.close())
