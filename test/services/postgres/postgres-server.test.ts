import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { until } from '@sluice/testkit'
import { allStarted, stopAll } from '../all-started.ts'
import { startNode } from '../processes/child-node.ts'
import { runs } from '../processes/process-state.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

describe('a PostgreSQL server for tests', () => {
  let postgres: PostgresServer

  beforeAll(async () => {
    postgres = await startPostgres({ args: ['-c', 'work_mem=77kB'] })
  })

  afterAll(() => postgres.stop())

  test('answers, accepts arguments, is durable, and listens only on the loopback interface', async () => {
    const pool = postgres.pool()
    const names = ['work_mem', 'fsync', 'listen_addresses', 'unix_socket_directories', 'max_connections']
    const { rows } = await pool.query('select current_setting(name) as value from unnest($1::text[]) as name', [names])
    expect(rows.map(({ value }) => value)).toEqual(['77kB', 'on', '127.0.0.1', '', '50'])
  })

  test('has a working URL', async () => {
    const pool = postgres.pool({ connectionString: postgres.url })
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })

  test('does not answer while it is paused, and answers pending queries afterwards', async () => {
    const client = await postgres.pool().connect()
    postgres.pause()
    let answered = false
    const late = client.query('select 1').then(() => {
      answered = true
    })
    await expect(postgres.pool({ connectionTimeoutMillis: 50 }).query('select 1')).rejects.toThrow('timeout')
    expect(answered).toBe(false)
    postgres.resume()
    await late
    client.release()
  })

  test('keeps exactly what was committed through a crash', async () => {
    const pool = postgres.pool()
    await pool.query('create table kept (value int)')
    await pool.query('insert into kept values (1)')
    const open = await pool.connect()
    await open.query('begin')
    await open.query('insert into kept values (2)')
    const { pid } = postgres
    await postgres.kill()
    expect(postgres.pid).toBe(-1)
    await expect(open.query('commit')).rejects.toThrow()
    open.release(true)
    await postgres.start()
    expect(postgres.pid).not.toBe(pid)
    expect((await pool.query('select value from kept')).rows).toEqual([{ value: 1 }])
    expect(postgres.output).toContain('was not properly shut down')
  })

  test('runs out of space at its file size limit, until it is restarted without the limit', async () => {
    const pool = postgres.pool()
    await pool.query('create table large (text text)')
    const fill = () => pool.query("insert into large select repeat('x', 1000) from generate_series(1, 20000)")
    await postgres.shutDown()
    expect(postgres.pid).toBe(-1)
    await postgres.start({ maxFileBytes: 17 * 2 ** 20 })
    await expect(fill()).rejects.toThrow('File too large')
    await postgres.shutDown()
    await postgres.start()
    await fill()
    await pool.query('drop table large')
  })

  test('is killed together with its children, even while it is paused', async () => {
    const client = await postgres.pool().connect()
    const { rows } = await client.query('select pg_backend_pid() as pid')
    const { pid } = rows[0] as { pid: number }
    postgres.pause()
    await postgres.kill()
    client.release(true)
    await until(() => !runs(pid))
    await postgres.start()
  })
})

test('is independent of a second server', async () => {
  const servers = await allStarted([startPostgres({ fsync: false }), startPostgres({ fsync: false })])
  const pools = servers.map((server) => server.pool())
  await pools[0]?.query('create table mine (value int)')
  const found = await Promise.all(pools.map((pool) => pool.query("select to_regclass('mine') as table")))
  expect(found.map(({ rows }) => rows[0].table)).toEqual(['mine', null])
  await stopAll(servers)
})

test('reports why a server did not start', async () => {
  await expect(startPostgres({ args: ['-c', 'work_mem=plenty'] })).rejects.toThrow(/has ended: .*work_mem/s)
})

test('leaves neither process nor folder behind', async () => {
  const postgres = await startPostgres({ fsync: false })
  const { pid, folder } = postgres
  const client = await postgres.pool().connect()
  await postgres.stop()
  client.release(true)
  expect(runs(pid)).toBe(false)
  expect(existsSync(folder)).toBe(false)
})

test('leaves neither behind if the process that started it is killed, even while it is paused', async () => {
  const owner = startNode<typeof import('../children/postgres-owner.ts')>('services/children/postgres-owner.ts')
  const { pid, folder, backend } = await owner.call('own')
  await owner.stop()
  await until(() => !existsSync(folder))
  await until(() => !runs(pid) && !runs(backend))
})
