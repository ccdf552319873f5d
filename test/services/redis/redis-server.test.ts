import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { until } from '@sluice/testkit'
import { startNode } from '../processes/child-node.ts'
import { runs } from '../processes/process-state.ts'
import { type RedisServer, startRedis } from './redis-server.ts'

describe('a Redis server for tests', () => {
  let redis: RedisServer

  beforeAll(async () => {
    redis = await startRedis({ args: ['--maxclients', '77'] })
  })

  afterAll(() => redis.stop())

  test('answers, accepts arguments and persists nothing', async () => {
    const client = redis.client()
    expect(await client.config('GET', 'maxclients')).toEqual(['maxclients', '77'])
    expect(await client.config('GET', 'save')).toEqual(['save', ''])
  })

  test('does not answer while it is paused, and answers pending commands afterwards', async () => {
    const client = redis.client()
    await client.ping()
    redis.pause()
    let answered = false
    const late = client.incr('paused').then(() => {
      answered = true
    })
    await expect(redis.client({ commandTimeout: 50 }).ping()).rejects.toThrow('timed out')
    expect(answered).toBe(false)
    redis.resume()
    await late
  })

  test('is empty after a crash, and keeps its data after an orderly restart', async () => {
    await redis.client().set('kept', '1')
    const { pid } = redis
    await redis.restart({ empty: false })
    expect(redis.pid).not.toBe(pid)
    expect(await redis.client().get('kept')).toBe('1')
    await redis.kill()
    expect(redis.pid).toBe(-1)
    await redis.restart()
    expect(await redis.client().get('kept')).toBeNull()
  })
})

test('reports why a server did not start', async () => {
  await expect(startRedis({ args: ['--maxmemory', 'plenty'] })).rejects.toThrow(/has ended: .*maxmemory/s)
})

test('does not take the server of another process on its port for its own', async () => {
  const other = await startRedis()
  await expect(startRedis({ port: other.port })).rejects.toThrow('in use')
  await other.stop()
})

test('leaves neither process nor folder behind', async () => {
  const redis = await startRedis()
  const { pid, folder } = redis
  await redis.stop()
  expect(runs(pid)).toBe(false)
  expect(existsSync(folder)).toBe(false)
})

test('leaves neither behind if the process that started it is killed, even while it is paused', async () => {
  const owner = startNode<typeof import('../children/redis-owner.ts')>('services/children/redis-owner.ts')
  const { pid, folder } = await owner.call('own')
  process.kill(pid, 'SIGSTOP')
  await owner.stop()
  await until(() => !existsSync(folder))
  await until(() => !runs(pid))
})
