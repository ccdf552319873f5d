import { byIp, byPrincipal, createSluice, type SluiceEnv } from '@sluice/hono'
import { Hono } from 'hono'
import { stream } from 'hono/streaming'

type Env = SluiceEnv & { Variables: { user?: string } }

/** An API with a limit for each address, a limit for each user whose cost is the length of the answer, and a cap. */
export function createApp(options: Parameters<typeof createSluice>[0] = {}): Hono<Env> {
  const { rateLimit, inflightLimit } = createSluice(options)
  const app = new Hono<Env>()
  app.use(rateLimit({ name: 'address', limit: 100, window: '1m' }))
  app.use(async (c, next) => {
    // your authentication
    const user = c.req.header('x-user')
    if (user !== undefined) c.set('user', user)
    await next()
  })

  app.get('/', (c) => c.json({ routes: ['/', '/search?q=…', '/words?count=…', '/export'] }))

  app.get('/search', rateLimit({ name: 'search', limit: 5, window: '1s', key: byIp() }), (c) => {
    return c.json({ found: [c.req.query('q')], left: c.var.sluice?.decision?.binding.remaining })
  })

  // reserves 10 words, and charges as many as were sent
  const words = rateLimit({
    name: 'words',
    limit: 1_000,
    window: '1h',
    key: byPrincipal((c) => c.get('user')),
    cost: { reserve: 10, settle: (_c, { response }) => Number(response?.headers.get('x-words')) },
  })
  app.get('/words', words, (c) => {
    const count = Math.min(100, Number(c.req.query('count') ?? 10))
    return c.text('word '.repeat(count), 200, { 'X-Words': String(count) })
  })

  // a place is held until the export has been read
  app.get('/export', inflightLimit({ name: 'export', limit: 2, key: byIp(), status: 429 }), (c) =>
    stream(c, async (out) => {
      for (let line = 1; line <= 1_000; line++) await out.write(`${line}\n`)
    }),
  )
  return app
}
