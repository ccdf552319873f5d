import type { AddressInfo } from 'node:net'
import { byHeader, rateLimit } from '@sluice/express'
import { createRedis, redisBackend } from '@sluice/redis'
import express from 'express'

/** One process of the fleet: an API whose limit all processes share. */
const [redisUrl, processes, limit] = process.argv.slice(2)

const app = express()
app.use(
  rateLimit({
    name: 'team',
    limit: Number(limit),
    window: '1s',
    slices: 10,
    key: byHeader('x-team'),
    backend: redisBackend(createRedis(redisUrl)),
    // one machine runs four processes, their traffic and Redis here: an answer may be slow and Redis well
    deadlineMs: 500,
    // without Redis each process admits its share, so that the sum stays where it was
    onBackendError: { local: { share: 1 / Number(processes) } },
  }),
)
app.get('/', (req, res) => {
  res.json({ source: req.sluice?.decision?.source })
})

const server = app.listen(0, '127.0.0.1', () => {
  process.send?.((server.address() as AddressInfo).port)
})
// the example is over
process.on('disconnect', () => process.exit(0))
