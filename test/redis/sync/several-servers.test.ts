import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { prometheusText } from '@sluice/fleet/metrics'
import { type Backend, createLimiter, type Decision, type Limiter } from '@sluice/limiter-core'
import { type RedisClients, syncedBackend } from '@sluice/redis'
import { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { ownPrefix } from '../exact/own-prefix.ts'
import { eventually } from '../inflight/fleet.ts'

const names = ['a', 'b', 'c']
let servers: RedisServer[]
const clients: Redis[] = []
const backends: Backend[] = []

beforeAll(async () => {
  servers = await Promise.all(names.map(() => startRedis()))
})

afterAll(async () => {
  for (const backend of backends) await backend.close?.()
  for (const client of clients) client.disconnect()
  await Promise.all(servers.map((server) => server.stop()))
})

function connected(): RedisClients {
  return Object.fromEntries(
    names.map((name, index) => {
      const client = new Redis({ port: servers[index].port, maxRetriesPerRequest: 0, retryStrategy: () => 20 })
      client.on('error', () => {})
      clients.push(client)
      return [name, client]
    }),
  ) as never
}

function limiterOn(prefix: string): { limiter: Limiter<Decision>; text: () => string } {
  const backend = syncedBackend(connected(), { prefix, tickMs: 100, gapMs: 20, nodes: 2, silentMs: 1_000 })
  backends.push(backend)
  const policies = [{ name: 'api', limit: 100, window: '1h', algorithm: 'fixed-window', backend }] as const
  return { limiter: createLimiter({ policies, scope: 'shared', shared: true }), text: () => prometheusText(backend) }
}

const keys = Array.from({ length: 30 }, (_, index) => `key ${index}`)

test('each server has a part of the keys, and a killed server does not affect the keys of the others', async () => {
  const prefix = ownPrefix()
  const [one, two] = [limiterOn(prefix), limiterOn(prefix)]
  for (const key of keys) one.limiter.take(key, 20)
  for (const key of keys) {
    await eventually(() => {
      two.limiter.take(key, 5)
      return two.limiter.peek(key).binding.remaining <= 75
    }, true)
  }
  const counted = await Promise.all(clients.slice(0, 3).map((client) => client.keys(`${prefix}:{*`)))
  expect(counted.map((found) => found.length > 0)).toEqual([true, true, true])
  expect(counted.flat()).toHaveLength(keys.length)
  expect(one.text()).toMatch(/^sluice_global_commands_total\{redis="b"\} [1-9]/m)

  await servers[1].kill()
  const sources = (): string => {
    return [...new Set(keys.map((key) => two.limiter.take(key).source))].sort().join()
  }
  await eventually(sources, 'local,synced')
  await servers[1].restart()
  await eventually(sources, 'synced')
})
