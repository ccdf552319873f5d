import type { AddressInfo } from 'node:net'
import { byHeader, rateLimit } from '@sluice/express'
import { createRedis, leasedBackend, redisBackend, syncedBackend } from '@sluice/redis'
import express from 'express'

/** One process of the fleet: an API whose limit all processes share. */
const [mode, redisUrl, processes, limit, windowMs] = process.argv.slice(2)

const client = createRedis(redisUrl)
const app = express()
app.use(
  rateLimit({
    name: 'team',
    limit: Number(limit),
    window: Number(windowMs),
    slices: 10,
    key: byHeader('x-team'),
    ...(mode === 'synced'
      ? // decides at once, and admits its share alone once Redis does not respond
        { backend: syncedBackend(client, { nodes: Number(processes) }) }
      : {
          backend: mode === 'leased' ? leasedBackend(client) : redisBackend(client),
          // one machine runs four processes, their traffic and Redis: a response may be slow although Redis is healthy
          deadlineMs: 2_000,
          // without Redis each process admits its share, so that the total stays the same
          onBackendError: { local: { share: 1 / Number(processes) } },
        }),
  }),
)
app.get('/', (req, res) => {
  res.json({ source: req.sluice?.decision?.source })
})

const server = app.listen(0, '127.0.0.1', () => {
  process.send?.((server.address() as AddressInfo).port)
})
// on a busy machine, a process that pauses for 5 s would close connections before it reads the requests on them
server.keepAliveTimeout = 60_000
// the example has ended
process.on('disconnect', () => process.exit(0))
