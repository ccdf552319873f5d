// For each client of Redis: the smallest script that enforces a limit, and an exact limit of Sluice.
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { policyOf } from '../decisions/sluice-contenders.mjs'
import { countScript } from './redis-floors.mjs'
import { limiterOn } from './redis-sluice.mjs'

// clients are dependencies of the tests, in the root
const load = createRequire(new URL('../../../package.json', import.meta.url))

async function ioredis(name, port) {
  const client = new (load(name).Redis)(port, '127.0.0.1')
  await once(client, 'ready')
  const sha = await client.script('LOAD', countScript)
  return { client, count: (key, windowMs) => client.evalsha(sha, 1, key, windowMs) }
}

async function nodeRedis(name, port) {
  const client = await load(name)
    .createClient({ url: `redis://127.0.0.1:${port}` })
    .connect()
  const sha = await client.scriptLoad(countScript)
  return { client, count: (key, windowMs) => client.evalSha(sha, { keys: [key], arguments: [String(windowMs)] }) }
}

async function glide(name, port) {
  const client = await load(name).GlideClient.createClient({
    addresses: [{ host: '127.0.0.1', port }],
    requestTimeout: 5_000,
  })
  const sha = await client.customCommand(['SCRIPT', 'LOAD', countScript])
  return { client, count: (key, windowMs) => client.customCommand(['EVALSHA', sha, '1', key, String(windowMs)]) }
}

const connects = {
  'ioredis 6': (port) => ioredis('ioredis', port),
  'ioredis 5': (port) => ioredis('ioredis5', port),
  iovalkey: (port) => ioredis('iovalkey', port),
  'node-redis 6': (port) => nodeRedis('redis', port),
  'node-redis 5': (port) => nodeRedis('redis5', port),
  'valkey-glide 2': (port) => glide('@valkey/valkey-glide', port),
}

/** Names of the clients. */
export const clientNames = Object.keys(connects)

export const bareOn = (client) => `${client}, bare script`
export const limitOn = (client) => `${client}, exact limit`

export const clientContenders = clientNames.flatMap((name) => [
  {
    name: bareOn(name),
    async open({ port, limit, windowMs, scope }) {
      const { count } = await connects[name](port)
      return { take: (key) => count(`floor:${scope}:${key}`, windowMs), allowed: ([used]) => used <= limit }
    },
  },
  {
    name: limitOn(name),
    async open(promise) {
      const { client } = await connects[name](promise.port)
      const policy = policyOf('sliding-window', promise)
      return limiterOn('redis', ({ redisBackend }) => redisBackend(client), promise.scope, policy)
    },
  },
])
