import { once } from 'node:events'
import { rateLimit } from '@sluice/express'
import { createRedis, redisBackend } from '@sluice/redis'
import express from 'express'

const redis = createRedis(process.env.REDIS_URL)
await once(redis, 'ready')

const app = express()
// long, because a busy machine must not fail this test
app.use(
  rateLimit({
    limit: 1,
    window: '1m',
    scope: 'esm',
    backend: redisBackend(redis),
    onBackendError: 'allow',
    deadlineMs: 5_000,
  }),
)
app.get('/', (_req, res) => res.send('hello'))

const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.stdin.resume().once('end', () => server.close(() => redis.disconnect()))
