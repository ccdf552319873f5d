import { describe, expect, test } from '@jest/globals'
import { redisBackend } from '@sluice/redis'
import { until } from '@sluice/testkit'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'
import { chargeOf, hour } from './charge.ts'
import { ownPrefix } from './own-prefix.ts'

const EVENTS = ['close', 'ready', 'error', 'end', 'connect', 'reconnecting', '+node', '-node']

const redis = redisForTests()

// ioredis 6.0.0 never settles them
const unsettled = { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false, retryStrategy: () => 20 }

describe.each<[string, (port: number) => Redis | Redis5]>([
  ['ioredis 6', (port) => new Redis({ port, ...unsettled })],
  ['ioredis 5', (port) => new Redis5({ port, ...unsettled })],
])('a lost connection of %s', (_, connect) => {
  test('settles calls in flight, is reported once as lost and once as back, and counts again', async () => {
    const client = connect(redis.server.port)
    await client.ping()
    const backend = redisBackend(client, { prefix: ownPrefix() })
    const events: string[] = []
    const stop = backend.interrupted?.((event) => events.push(event))
    redis.server.pause()
    const underWay = Promise.allSettled(
      Array.from({ length: 30 }, (_, n) => backend.takeAll([chargeOf(backend, hour, `key ${n}`)])),
    )
    await redis.server.kill()
    for (const settled of await underWay) {
      expect(settled).toMatchObject({ status: 'rejected', reason: { code: 'CONNECTION' } })
    }
    await redis.server.start()
    await until(() => events.length > 1)
    expect(events).toEqual(['lost', 'back'])
    expect((await backend.takeAll([chargeOf(backend, hour, 'a')])).verdicts[0].remaining).toBe(99)
    stop?.()
    backend.close?.()
    client.disconnect()
  })

  test('has listeners, which are removed when the last backend is closed', async () => {
    const client = connect(redis.server.port)
    await client.ping()
    const counts = (): number[] => EVENTS.map((event) => client.listenerCount(event))
    const before = counts()
    const backends = Array.from({ length: 20 }, () => redisBackend(client))
    expect(client.listenerCount('close')).toBe(before[0] + 1)
    const stop = backends[0].interrupted?.(() => {})
    for (const backend of backends) backend.close?.()
    stop?.()
    expect(counts()).toEqual(before)
    client.disconnect()
  })
})
