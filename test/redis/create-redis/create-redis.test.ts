import { describe, expect, jest, test } from '@jest/globals'
import { createRedis, createRedisCluster } from '@sluice/redis'
import { until } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { endedAfterEach } from '../../services/for-tests.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'

const ownRedis = redisForTests({ args: ['--requirepass', 'right'] })
const made = endedAfterEach<{ disconnect(): void }>((client) => client.disconnect())

function client(...args: Parameters<typeof createRedis>): Redis {
  const redis = createRedis(...args)
  made.push(redis)
  return redis
}

const urlWith = (password: string): string => `redis://:${password}@127.0.0.1:${ownRedis.server.port}/0`

describe('createRedis', () => {
  test.each([
    ['no url', 'localhost'],
    ['a url with another protocol', 'http://:hunter2@localhost:6379'],
    ['a url without a host', 'redis:///0'],
    ['a database that is not a number', 'redis://:hunter2@localhost:6379/first'],
    ['a port', 6379],
    ['nothing', undefined],
    ['a list', ['redis://localhost']],
  ])('rejects %s at start-up, without the password in the message', (_what, target) => {
    const build = (): unknown => createRedis(target as string)
    expect(build).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
    expect(build).toThrow(/expected .+, received ./)
    expect(build).not.toThrow(/hunter2/)
  })

  test('rejects an onError that is not a function', () => {
    const onError = 'console' as never
    const refused = expect.objectContaining({ code: 'SLUICE_BAD_OPTION' })
    expect(() => createRedis('redis://localhost', { onError })).toThrow(refused)
    expect(() => createRedisCluster([{ host: 'localhost' }], { onError })).toThrow(refused)
  })

  test('rejects options that are not an object', () => {
    const refused = expect.objectContaining({ code: 'SLUICE_BAD_OPTION' })
    for (const options of ['fast', null, []]) {
      expect(() => createRedis('redis://localhost', options as never)).toThrow(refused)
      expect(() => createRedisCluster([{ host: 'localhost' }], options as never)).toThrow(refused)
    }
  })

  test('accepts a url, options without a url, and a socket path', () => {
    const lazyConnect = true
    expect(client('redis://:p%40ss@example.org:6380/2', { lazyConnect }).options).toMatchObject({
      host: 'example.org',
      port: 6380,
      password: 'p@ss',
      db: 2,
    })
    expect(client({ host: 'example.org', lazyConnect }).options).toMatchObject({ host: 'example.org', port: 6379 })
    expect(client('/run/redis.sock', { lazyConnect }).options).toMatchObject({ path: '/run/redis.sock' })
    expect(client('rediss://example.org', { lazyConnect }).options.tls).toBeTruthy()
  })

  test('lets users change every option', () => {
    const { options } = client('redis://localhost', {
      lazyConnect: true,
      disconnectTimeout: 5_000,
      maxRetriesPerRequest: 3,
    })
    expect(options).toMatchObject({ disconnectTimeout: 5_000, maxRetriesPerRequest: 3, connectTimeout: 1_000 })
  })

  test('rejects an invalid socketTimeout', () => {
    const refused = expect.objectContaining({ code: 'SLUICE_BAD_DURATION' })
    for (const socketTimeout of [-1, 0, Number.NaN, 'soon' as never]) {
      expect(() => createRedis('redis://localhost', { socketTimeout })).toThrow(refused)
      expect(() => createRedisCluster([{ host: 'localhost' }], { redisOptions: { socketTimeout } })).toThrow(refused)
    }
  })

  test('does not throw if there is no server, and fails commands at once', async () => {
    const redis = client('redis://127.0.0.1:1')
    await expect(redis.ping()).rejects.toThrow()
  })

  test('reports a wrong password to onError on every attempt, and prints nothing', async () => {
    const printed = jest.spyOn(console, 'error').mockImplementation(() => {})
    const errors: string[] = []
    client(urlWith('wrong'), { onError: ({ message }) => errors.push(message) })
    client(urlWith('wrong'))
    await until(() => errors.length >= 2)
    expect(errors[0]).toMatch(/^WRONGPASS/)
    expect(printed).not.toHaveBeenCalled()
    printed.mockRestore()
  })

  test('continues if onError throws', async () => {
    let told = 0
    const redis = client('redis://127.0.0.1:1', {
      onError() {
        told++
        throw new Error('of the listener')
      },
    })
    await until(() => told >= 2)
    expect(redis.status).not.toBe('end')
  })

  test('disconnects from a server that has become a replica, and reconnects', async () => {
    const redis = client(urlWith('right'))
    await until(() => redis.status === 'ready')
    await redis.config('SET', 'replica-read-only', 'yes')
    await redis.replicaof('127.0.0.1', '1')
    await expect(redis.set('key', 'value')).rejects.toThrow(/READONLY/)
    await until(() => redis.status !== 'ready', { what: 'leaving' })
    await until(() => redis.status === 'ready', { what: 'coming back' })
    await redis.replicaof('NO', 'ONE')
    expect(await redis.set('key', 'value')).toBe('OK')
  })
})

describe('createRedisCluster', () => {
  test.each([
    ['no list', 'redis://localhost'],
    ['an empty list', []],
    ['a node without a host', [{ port: 7000 }]],
  ])('rejects %s', (_what, nodes) => {
    const build = (): unknown => createRedisCluster(nodes as never)
    expect(build).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
  })

  test('fails commands at once if no node is available, reports to onError, and keeps trying', async () => {
    const errors: Error[] = []
    const cluster = createRedisCluster([{ host: '127.0.0.1', port: 1 }], { onError: (error) => errors.push(error) })
    made.push(cluster)
    await expect(cluster.get('key')).rejects.toThrow()
    await until(() => errors.length >= 2)
    expect(cluster.status).not.toBe('end')
  })
})
