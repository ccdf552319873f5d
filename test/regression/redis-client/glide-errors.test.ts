import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { redisBackend, scriptRunner } from '@sluice/redis'
import { GlideClient, Logger } from '@valkey/valkey-glide'
import type { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'

describe('valkey-glide', () => {
  let server: RedisServer
  let admin: Redis
  let client: GlideClient

  beforeAll(async () => {
    // it prints each error of a server
    Logger.setLoggerConfig('off')
    server = await startRedis()
    admin = server.client()
    client = await GlideClient.createClient({ addresses: [{ host: '127.0.0.1', port: server.port }] })
  })

  afterAll(async () => {
    client.close()
    await server.stop()
  })

  test('counts on a server that no other client has taught the script', async () => {
    await admin.script('FLUSH')
    const backend = redisBackend(client)
    const limiter = createLimiter({ name: 'new', limit: 3, window: '1m', backend, deadlineMs: 10_000 })
    expect((await limiter.take('key')).counted).toBe(true)
    await limiter.close()
  })

  const set = { name: 'set', text: "return redis.call('SET', KEYS[1], 'value')" }
  const fails = { name: 'fails', text: "return redis.error_reply('LEASED units')" }
  const errors: readonly [string, readonly string[], readonly string[]][] = [
    ['OOM', ['CONFIG SET maxmemory 1'], ['CONFIG SET maxmemory 0']],
    ['READONLY', ['REPLICAOF 127.0.0.1 1'], ['REPLICAOF NO ONE']],
    ['NOREPLICAS', ['CONFIG SET min-replicas-to-write 1'], ['CONFIG SET min-replicas-to-write 0']],
    ['NOPERM', ['ACL SETUSER default -evalsha -eval'], ['ACL SETUSER default +evalsha +eval']],
  ]

  async function commands(lines: readonly string[]): Promise<void> {
    for (const line of lines) {
      const [name, ...args] = line.split(' ')
      await admin.call(name, ...args)
    }
  }

  test.each(errors)('reports %s under its code', async (code, begin, end) => {
    await commands(begin)
    const failed = await scriptRunner(client)
      .run(set, ['key'], [])
      .catch((error) => error)
    await commands(end)
    expect(failed).toMatchObject({ name: 'RedisFailure', code, mayHaveCounted: false })
  })

  test('reports a wrong type, and a code of Sluice', async () => {
    await admin.lpush('list', 'a')
    const increment = { name: 'increment', text: "return redis.call('INCR', KEYS[1])" }
    await expect(scriptRunner(client).run(increment, ['list'], [])).rejects.toMatchObject({
      code: 'WRONGTYPE',
      keyOnly: true,
    })
    await expect(scriptRunner(client).run(fails, ['key'], [])).rejects.toMatchObject({ code: 'LEASED' })
  })

  test('reports a reply that does not come as one that may have counted', async () => {
    server.pause()
    const failed = await scriptRunner(client)
      .run(set, ['key'], [])
      .catch((error) => error)
    server.resume()
    expect(failed).toMatchObject({ code: 'LATE', mayHaveCounted: true })
  })
})
