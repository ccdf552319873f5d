import { describe, expect, test } from '@jest/globals'
import { createLimiter, type Script } from '@sluice/limiter-core'
import { redisBackend, scriptRunner } from '@sluice/redis'
import { Redis as IoRedis } from 'ioredis'
import { Redis as IoValkey } from 'iovalkey'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'

const ONE = { text: 'return 1' } as Script

const redis = redisForTests()

describe.each([
  ['ioredis', () => new IoRedis({ port: redis.server.port })],
  ['iovalkey', () => new IoValkey({ port: redis.server.port })],
] as const)('a client of %s for which `quit` was called', (_name, make) => {
  test('answers the calls that it has sent, and refuses later ones as not counted', async () => {
    const client = make()
    const runner = scriptRunner(client)
    await runner.run(ONE, ['a'], [])
    const sent = Array.from({ length: 50 }, () => runner.run(ONE, ['a'], []))
    const closed = client.quit()
    const later = runner.run(ONE, ['a'], [])
    await expect(later).rejects.toMatchObject({ code: 'CONNECTION', mayHaveCounted: false })
    expect(new Set(await Promise.all(sent))).toEqual(new Set([1]))
    expect(await closed).toBe('OK')
  })

  // a command behind QUIT resets the connection, which may lose the answer to QUIT
  test('resolves, although a ban is still being stored', async () => {
    const ban = { after: 1, within: '5s', for: '5s' } as const
    for (let round = 0; round < 20; round++) {
      const client = make()
      const limiter = createLimiter({ limit: 1, window: '5s', ban, backend: redisBackend(client) })
      for (let take = 0; take < 2; take++) await limiter.take(`${_name} ${round}`)
      await client.ping()
      expect(await client.quit()).toBe('OK')
      limiter.close()
    }
  })

  test('works again after `connect`', async () => {
    const client = make()
    const runner = scriptRunner(client)
    await runner.run(ONE, ['a'], [])
    const ended = new Promise((resolve) => client.once('end', resolve))
    await client.quit()
    await ended
    await client.connect()
    expect(await runner.run(ONE, ['a'], [])).toBe(1)
    await client.quit()
  })
})
