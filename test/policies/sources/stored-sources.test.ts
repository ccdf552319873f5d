import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { postgresSource, redisSource, type WritablePolicySource } from '@sluice/policies'
import { FakeClock } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { eventually } from '../../services/eventually.ts'
import { type PostgresServer, startPostgres } from '../../services/postgres/postgres-server.ts'
import { endOf } from '../../services/processes/node-script.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { documentOf } from './source-contract.ts'

let redis: RedisServer
let postgres: PostgresServer

beforeAll(async () => {
  ;[redis, postgres] = await Promise.all([startRedis(), startPostgres({ fsync: false })])
})

afterAll(() => Promise.all([redis.stop(), postgres.stop()]))

/** Each call returns a source of the same new document. */
const places: readonly [name: string, place: (name: string) => () => WritablePolicySource][] = [
  ['redisSource', (name) => () => redisSource(redis.client(), name)],
  ['postgresSource', (name) => () => postgresSource(postgres.pool(), { name, table: `t_${name}` })],
]

describe.each(places)('publish of %s', (_name, place) => {
  test('counts versions from 1, and rejects nothing that is valid', async () => {
    const source = place('versions')()
    for (const version of [1, 2, 3]) expect(await source.publish(documentOf(version))).toBe(version)
    expect(await source.read()).toBe(documentOf(3))
  })

  test('refuses an invalid document with its problems, and stores nothing', async () => {
    const source = place('invalid')()
    await source.publish(documentOf(1))
    await expect(source.publish('version: 1\n')).rejects.toMatchObject({
      code: 'SLUICE_BAD_POLICY_FILE',
      problems: [{ line: 1, column: 1, message: "the field 'policies' is missing" }],
      message: expect.stringContaining(`${source.name}:1:1`),
    })
    expect(await source.read()).toBe(documentOf(1))
  })

  test('of several processes at once gives each its own version, and the last one stays', async () => {
    const sourceOf = place('race')
    const limits = Array.from({ length: 8 }, (_, index) => index + 1)
    const versions = await Promise.all(limits.map((limit) => sourceOf().publish(documentOf(limit))))
    expect([...versions].sort((a, b) => a - b)).toEqual(limits)
    const last = limits[versions.indexOf(limits.length)]
    expect(await sourceOf().read()).toBe(documentOf(last))
  })
})

describe('redisSource', () => {
  test('reads the text only if the version or the digest has changed', async () => {
    const client = redis.client()
    const source = redisSource(client, 'cheap')
    await source.publish(documentOf(1))
    await source.read()
    const before = await bytesSent(client)
    for (let look = 0; look < 10; look++) expect(await source.read()).toBeUndefined()
    // the digest alone has 64 bytes
    expect((await bytesSent(client)) - before).toBeLessThan(10 * 120 + 20_000)
    await client.hset('cheap', 'text', documentOf(2))
    expect(await source.read()).toBeUndefined()
    await client.hincrby('cheap', 'version', 1)
    expect(await source.read()).toBe(documentOf(2))
  })

  test('finds a document that was published again after a loss of all data', async () => {
    const client = redis.client()
    const source = redisSource(client, 'lost')
    await source.publish(documentOf(1))
    await source.read()
    await client.del('lost')
    expect(await source.publish(documentOf(2))).toBe(1)
    expect(await source.read()).toBe(documentOf(2))
  })

  test('rejects for a key of another type', async () => {
    await redis.client().set('text', 'a string')
    await expect(redisSource(redis.client(), 'text').read()).rejects.toMatchObject({
      code: 'SLUICE_POLICIES_UNREADABLE',
      message: expect.stringContaining('WRONGTYPE'),
    })
  })
})

describe('postgresSource', () => {
  test('finds a document that was changed by SQL', async () => {
    const pool = postgres.pool()
    const source = postgresSource(pool)
    await source.publish(documentOf(1))
    await source.read()
    await pool.query('update sluice_policies set document = $1', [documentOf(2)])
    expect(await source.read()).toBe(documentOf(2))
  })

  test('keeps several documents in one table, also in a schema', async () => {
    const pool = postgres.pool()
    await pool.query('create schema limits')
    const [some, other] = ['some', 'other'].map((name) => postgresSource(pool, { name, table: 'limits.policies' }))
    await some.publish(documentOf(1))
    await other.publish(documentOf(2))
    expect([await some.read(), await other.read()]).toEqual([documentOf(1), documentOf(2)])
  })

  test('publishes with a role that may write the table and create nothing', async () => {
    const pool = postgres.pool()
    await postgresSource(pool, { table: 'granted' }).publish(documentOf(1))
    await pool.query('create role publisher login; grant select, insert, update on granted to publisher')
    const limited = postgres.pool({ user: 'publisher' })
    expect(await postgresSource(limited, { table: 'granted' }).publish(documentOf(2))).toBe(2)
    await expect(postgresSource(limited, { table: 'absent' }).publish(documentOf(2))).rejects.toThrow(
      /permission denied/,
    )
  })

  test('works with a PGlite', async () => {
    const script = `
      const pool = new pglite.PGlite()
      // a busy machine needs several seconds to start it
      const source = policies.postgresSource(pool, { timeoutMs: '60s' })
      const document = ${JSON.stringify(documentOf(1))}
      console.log(await source.publish(document), (await source.read()) === document, await source.read())
      await pool.close()
    `
    const modules = { policies: '@sluice/policies', pglite: '@electric-sql/pglite' }
    expect(await endOf('esm', { modules, script }, 100_000)).toEqual({
      code: 0,
      stdout: '1 true undefined\n',
      stderr: '',
    })
  })

  test.each(['', 'Policies', 'a.b.c', 'x"; drop table y', `t${'x'.repeat(63)}`])('refuses the table %p', (table) => {
    expect(() => postgresSource(postgres.pool(), { table })).toThrow(/postgresSource: table: expected a name/)
  })
})

describe.each(places)('a server of %s that is connected and silent', (name, place) => {
  test('is given up after timeoutMs, and read again when it answers', async () => {
    const server = name === 'redisSource' ? redis : postgres
    const clock = new FakeClock()
    const pool = postgres.pool()
    const client = redis.client()
    const source =
      name === 'redisSource'
        ? redisSource(client, 'silent', { clock, timeoutMs: '2s' })
        : postgresSource(pool, { name: 'silent', clock, timeoutMs: '2s' })
    await place('silent')()
      .publish(documentOf(1))
      .catch(() => {})
    await source.publish(documentOf(2))
    await source.read()
    server.pause()
    const read = source.read().catch((error: unknown) => error)
    await eventually(async () => clock.pending > 0, { what: 'a call' })
    clock.advance(2_000)
    expect(String(await read)).toMatch(/no reply within 2000 ms/)
    expect(clock.pending).toBe(0)
    server.resume()
    await eventually(
      () =>
        source.read().then(
          () => true,
          () => false,
        ),
      { what: 'an answer' },
    )
  })
})

test.each([undefined, {}, 'redis://127.0.0.1'])('redisSource refuses the client %p', (client) => {
  expect(() => redisSource(client as never, 'policies')).toThrow(
    /redisSource: client: expected a client of ioredis, iovalkey or node-redis/,
  )
})

async function bytesSent(client: Redis): Promise<number> {
  const info = await client.info('stats')
  return Number(/total_net_output_bytes:(\d+)/.exec(String(info))?.[1])
}
