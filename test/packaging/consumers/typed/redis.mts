import type { AddressInfo } from 'node:net'
import { type BackendErrorRule, byIp, createSluice, inflightLimit, type Observer } from '@sluice/express'
import { clusterBackend } from '@sluice/fleet'
import {
  createRedis,
  createRedisCluster,
  leasedBackend,
  redisBackend,
  redisChannel,
  redisInflight,
  redisSums,
  type ScriptRunner,
  syncedBackend,
  syncedOptionsFromEnv,
} from '@sluice/redis'
import express from 'express'
import { Redis } from 'ioredis'

const redis: Redis = createRedis(process.env.REDIS_URL ?? '')
const own: Redis = new Redis({ lazyConnect: true, enableOfflineQueue: false, maxRetriesPerRequest: 0 })
const watch: Observer = {
  event(name, { cause, state }) {
    console.error(name, cause, state)
  },
}
const onBackendError: BackendErrorRule = { local: { share: 1 / 4 } }
const backend = redisBackend(redis, { prefix: 'typed' })
const { rateLimit } = createSluice({ backend, onBackendError, deadlineMs: '10s', observers: [watch] })

const app = express()
// each process has a separate count here, so that the module and the script do not share it
app.use(rateLimit({ limit: 1, window: '1m', scope: String(process.pid) }))
app.use(inflightLimit({ limit: 10, key: byIp(), backend: redisInflight(redis, { limit: 10 }) }))
app.get('/', (_req, res) => {
  res.send('hello')
})

// the code below is not called: it must only compile
export const others = (runner: ScriptRunner): unknown[] => [
  leasedBackend(runner, { fraction: 0.2 }),
  redisBackend(createRedisCluster([{ host: 'localhost', port: 7000 }], { redisOptions: { password: 'secret' } })),
  syncedBackend({ east: redis, west: own }, { nodes: 20, ...syncedOptionsFromEnv('TYPED_').options }).metrics(),
  redisChannel(own).subscribe('topic', (bytes: Uint8Array) => bytes.length),
  redisSums(runner, { name: 'hits' }).get('GET /'),
  createSluice({ backend: clusterBackend() }),
]

redis.once('ready', () => {
  const server = app.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
  process.stdin.resume().once('end', () => server.close(() => redis.disconnect()))
})
