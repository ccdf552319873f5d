import { serve } from '@hono/node-server'
import { rateLimit as fetchLimit, sluiceOf } from '@sluice/fetch'
import { byPrincipal, inflightLimit, rateLimit, type SluiceEnv } from '@sluice/hono'
import { Hono } from 'hono'

const app = new Hono<SluiceEnv & { Variables: { user?: string } }>()
app.use(inflightLimit({ limit: 200 }))
app.use(
  rateLimit({ limit: 1, window: '1m', key: byPrincipal((c) => c.get('user')), skip: (c) => c.req.path === '/health' }),
)
app.get('/', rateLimit({ name: 'route', limit: 9, window: '1m', next: true }), (c) =>
  c.json({ left: c.var.sluice?.decision?.binding.remaining }),
)

const limit = fetchLimit({ limit: 1, window: '1m', denied: (_request, { status }) => new Response('no', { status }) })
export const handler: (request: Request, env: { readonly name: string }) => Response | Promise<Response> = limit.wrap(
  (request, env: { readonly name: string }) => new Response(`${env.name} ${sluiceOf(request)?.decision?.allowed}`),
)

const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => console.log(port))
process.stdin.resume().once('end', () => server.close())
