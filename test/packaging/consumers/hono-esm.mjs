import { serve } from '@hono/node-server'
import { rateLimit } from '@sluice/hono'
import { Hono } from 'hono'

const app = new Hono()
app.use(rateLimit({ limit: 1, window: '1m' }))
app.get('/', (c) => c.text('hello'))

const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => console.log(port))
process.stdin.resume().once('end', () => server.close())
