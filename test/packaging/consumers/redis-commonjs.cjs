const { rateLimit } = require('@sluice/express')
const { createRedis, redisBackend } = require('@sluice/redis')
const express = require('express')

const redis = createRedis(process.env.REDIS_URL)

const app = express()
// a busy machine is not what is tested here
app.use(
  rateLimit({
    limit: 1,
    window: '1m',
    scope: 'commonjs',
    backend: redisBackend(redis),
    onBackendError: 'allow',
    deadlineMs: 5_000,
  }),
)
app.get('/', (_req, res) => res.send('hello'))

redis.once('ready', () => {
  const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port))
  process.stdin.resume().once('end', () => server.close(() => redis.disconnect()))
})
