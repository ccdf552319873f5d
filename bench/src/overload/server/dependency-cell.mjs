// An Express server with a route that asks PostgreSQL and a route that answers from memory. Both need one of a few
// workers, as routes of a process share memory, file descriptors or a pool of threads.
import { inflightLimit } from '@sluice/express'
import { adaptive } from '@sluice/overload'
import express from 'express'
import pLimit from 'p-limit'
import pg from 'pg'
import { childOptions } from '../../run/child.mjs'
import { valueAt } from '../load/steps.mjs'
import { ServerHost } from './server-host.mjs'

const { contender, settings } = childOptions()
const { url, workers, connections, queryMs, fixedCap } = settings
const host = new ServerHost()
const pool = new pg.Pool({ connectionString: url, max: connections })
pool.on('error', () => {})
const slots = pLimit(workers)
const observers = [{ permitAcquired: (_key, { limit }) => host.watch(limit) }]
const protect = {
  'no limiter': () => {},
  'one fixed cap': (app) => app.use(inflightLimit({ limit: fixedCap, observers })),
  'one adaptive cap with priorities': (app) =>
    app.use(
      inflightLimit({
        limit: adaptive(),
        priority: (req) => (req.path === '/db' ? 'normal' : 'high'),
        observers,
      }),
    ),
  'an adaptive cap per route': (app) =>
    app.use('/db', inflightLimit({ limit: adaptive({ min: 2, max: connections }), observers })),
}

const app = express()
protect[contender](app)
let held = 0
const working = (work) => async (_req, res) => {
  held++
  try {
    await slots(work)
    res.send('done')
  } finally {
    held--
  }
}
const query = () => pool.query('select pg_sleep($1)', [valueAt(queryMs, Math.max(0, host.elapsedMs())) / 1_000])
app.get(
  '/db',
  working(() => query()),
)
app.get(
  '/fast',
  working(() => {}),
)
await pool.query('select 1')
const server = app.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  server.keepAliveTimeout = 3_600_000
  host.run(server.address().port, { held: () => held })
})
