import { beforeEach, describe, expect, test } from '@jest/globals'
import type { Answer, Backend } from '@sluice/limiter-core'
import { redisBackend } from '@sluice/redis'
import { Redis } from 'ioredis'
import { freePort } from '../../services/free-port.ts'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'
import { bucket, chargeOf, hour, minute, remaining } from './charge.ts'
import { ownPrefix } from './own-prefix.ts'

const redis = redisClientForTests()
let prefix: string
let backend: Backend<Promise<Answer>>

beforeEach(() => {
  prefix = ownPrefix()
  backend = redisBackend(redis.client, { prefix })
})

const nameOf = (key: string): string => `${prefix}:{${key}}:exact/minute/fixed-window@1/60000`

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'none',
    (error) => error.code,
  )
}

describe('a key with a foreign value', () => {
  const spoil = {
    'a list': () => redis.client.lpush(nameOf('spoilt'), 'x'),
    'a foreign string': () => redis.client.set(nameOf('spoilt'), 'hello, world'),
    'a string as long as one and a half cells': () => redis.client.set(nameOf('spoilt'), 'x'.repeat(24)),
  }

  test.each(Object.entries(spoil))('fails without affecting others: %s', async (_, spoilIt) => {
    await spoilIt()
    await expect(backend.takeAll([chargeOf(backend, minute, 'spoilt')])).rejects.toMatchObject({
      code: 'WRONGTYPE',
      keyOnly: true,
    })
    const hold = backend.takeAll([chargeOf(backend, minute, 'hold')])
    const [before, spoilt, both, after] = await Promise.allSettled([
      backend.takeAll([chargeOf(backend, minute, 'a')]),
      backend.takeAll([chargeOf(backend, minute, 'spoilt')]),
      backend.takeAll([chargeOf(backend, hour, 'a'), chargeOf(backend, minute, 'spoilt')]),
      backend.takeAll([chargeOf(backend, minute, 'b')]),
      hold,
    ])
    expect([before.status, after.status]).toEqual(['fulfilled', 'fulfilled'])
    for (const one of [spoilt, both]) {
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'WRONGTYPE', keyOnly: true } })
    }
    // all or nothing: the other policy of the request is not charged
    expect(await remaining(backend, hour, 'a')).toBe(100)
  })

  test.each(Object.entries(spoil))('works again after a reset: %s', async (_, spoilIt) => {
    await spoilIt()
    await backend.resetAll([chargeOf(backend, minute, 'spoilt')])
    expect((await backend.takeAll([chargeOf(backend, minute, 'spoilt')])).verdicts[0].remaining).toBe(4)
  })
})

describe('a server that rejects writes', () => {
  const states = {
    READONLY: { begin: () => redis.client.replicaof('127.0.0.1', 1), end: () => redis.client.replicaof('NO', 'ONE') },
    OOM: {
      begin: () => redis.client.config('SET', 'maxmemory', 1),
      end: () => redis.client.config('SET', 'maxmemory', 0),
    },
  }

  test.each(Object.entries(states))(
    'is reported with its error code, nothing is taken, and denied keys stay denied: %s',
    async (code, state) => {
      await backend.takeAll([chargeOf(backend, minute, 'full', 5)])
      await state.begin()
      try {
        expect(await codeOf(backend.takeAll([chargeOf(backend, minute, 'a')]))).toBe(code)
        expect(
          await codeOf(
            backend.takeAll([
              chargeOf(backend, hour, 'a'),
              chargeOf(backend, minute, 'a'),
              chargeOf(backend, bucket, 'a'),
            ]),
          ),
        ).toBe(code)
        expect((await backend.takeAll([chargeOf(backend, minute, 'full')])).verdicts[0].allowed).toBe(false)
      } finally {
        await state.end()
      }
      for (const [policy, limit] of [
        [hour, 100],
        [minute, 5],
        [bucket, 50],
      ] as const) {
        expect(await remaining(backend, policy, 'a')).toBe(limit)
      }
    },
  )
})

// its timer would keep the process alive if the connection is already gone
const brief = { host: '127.0.0.1', disconnectTimeout: 10 }

describe('an unreachable server', () => {
  test('is reported as CONNECTION at once, while its client connects or has given up', async () => {
    const lost = new Redis({ port: await freePort(), ...brief, retryStrategy: () => 60_000 })
    const alone = redisBackend(lost)
    expect(await codeOf(alone.takeAll([chargeOf(alone, hour, 'a')]))).toBe('CONNECTION')
    lost.disconnect()
    expect(await codeOf(alone.takeAll([chargeOf(alone, hour, 'a')]))).toBe('CONNECTION')
    alone.close?.()
  })

  test('is reported as CONNECTION for a client with a lazy connection', async () => {
    const lazy = new Redis({ port: await freePort(), ...brief, lazyConnect: true, retryStrategy: () => 60_000 })
    const alone = redisBackend(lazy)
    expect(await codeOf(alone.takeAll([chargeOf(alone, hour, 'a')]))).toBe('CONNECTION')
    alone.close?.()
    lazy.disconnect()
  })

  test('is connected to by the first request of a client with a lazy connection', async () => {
    const lazy = new Redis({ port: redis.server.port, ...brief, lazyConnect: true })
    const awake = redisBackend(lazy, { prefix })
    expect((await awake.takeAll([chargeOf(awake, hour, 'a')])).verdicts[0].remaining).toBe(99)
    awake.close?.()
    lazy.disconnect()
  })
})
