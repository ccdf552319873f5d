import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { systemClock } from '@sluice/limiter-core/backend'
import { scriptRunner } from '@sluice/redis'
import { until } from '@sluice/testkit'
import { startProxy, type TcpProxy } from '../../services/proxies/tcp-proxy.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { ioredisMaker, nodeRedisMaker, type RecoveringClient } from './recovering-client.ts'

const ECHO = { name: 'echo', text: 'return 1' }

/** Measures the milliseconds until `work` settles, and returns its result. */
async function timed<T>(work: Promise<T>): Promise<{ ms: number; outcomes: T }> {
  const from = systemClock.now()
  const outcomes = await work
  return { ms: systemClock.now() - from, outcomes }
}

/** Measures the milliseconds until the client receives answers again. */
async function healing(client: RecoveringClient): Promise<number> {
  const from = systemClock.now()
  let answered = false
  const ask = (): void => {
    client.ping().then(
      () => {
        answered = true
      },
      () => systemClock.after(5, ask),
    )
  }
  ask()
  await until(() => answered, { what: 'an answer' })
  return systemClock.now() - from
}

const inFlight = (client: RecoveringClient): Promise<PromiseSettledResult<unknown>[]> =>
  Promise.allSettled(Array.from({ length: 20 }, () => client.ping()))

/** Times of the given number of connections to a server that closes every connection. */
async function connectsTo(connect: (url: string) => RecoveringClient, count: number): Promise<number[]> {
  const times: number[] = []
  const hostile = createServer((socket) => {
    times.push(systemClock.now())
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(hostile, 'listening')
  const client = connect(`redis://127.0.0.1:${(hostile.address() as AddressInfo).port}`)
  await until(() => times.length >= count)
  client.close()
  hostile.close()
  return times
}

const makers = [
  ['createRedis on ioredis 5', () => ioredisMaker(5)],
  ['createRedis on ioredis 6', () => ioredisMaker(6)],
  ['createNodeRedis on node-redis 5', () => nodeRedisMaker(5)],
  ['createNodeRedis on node-redis 6', () => nodeRedisMaker(6)],
] as const

describe.each(makers)('%s', (_name, maker) => {
  let server: RedisServer
  let path: TcpProxy
  let client: RecoveringClient
  let make: Awaited<ReturnType<typeof ioredisMaker>>
  const errors: Error[] = []

  beforeAll(async () => {
    make = await maker()
    server = await startRedis()
    path = await startProxy(server.port)
    client = make(path.url, { onError: (error) => errors.push(error) })
    await until(() => client.isReady)
  })

  afterAll(async () => {
    client.close()
    await path.stop()
    await server.stop()
  })

  test('keeps the connection with which it recovered', async () => {
    server.pause()
    const pending = inFlight(client)
    path.cut()
    await pending
    server.resume()
    await healing(client)
    const before = client.losses
    const untilAt = systemClock.now() + 1_300
    while (systemClock.now() < untilAt) await client.ping().catch(() => {})
    expect(client.losses).toBe(before)
  })

  test('rejects commands to a stopped server within 1.5 s, and receives answers within 1 s after it resumes', async () => {
    server.pause()
    const { ms, outcomes } = await timed(inFlight(client))
    server.resume()
    const healedMs = await healing(client)
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
    expect(ms).toBeLessThan(1_500)
    expect(healedMs).toBeLessThan(1_000)
  })

  test('rejects them earlier with a shorter socketTimeout', async () => {
    const hasty = make(path.url, { socketTimeout: 200 })
    await until(() => hasty.isReady)
    server.pause()
    const { ms, outcomes } = await timed(inFlight(hasty))
    server.resume()
    hasty.close()
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
    expect(ms).toBeGreaterThan(150)
    expect(ms).toBeLessThan(900)
  })

  test('rejects commands on a path that drops packets, and receives answers within 2 s after it is repaired', async () => {
    path.blackHole()
    const before = path.connections
    const { ms, outcomes } = await timed(inFlight(client))
    await until(() => path.connections > before && client.isConnected)
    path.heal()
    const healedMs = await healing(client)
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
    expect(ms).toBeLessThan(1_500)
    expect(healedMs).toBeLessThan(2_000)
  })

  test('replaces the connection while calls go on over a path that drops packets', async () => {
    const runner = scriptRunner(client.client)
    const before = path.connections
    const from = systemClock.now()
    path.blackHole()
    while (path.connections === before) {
      void runner.run(ECHO, ['key'], []).catch(() => {})
      await new Promise((resolve) => systemClock.after(5, () => resolve(undefined)))
    }
    const replacedMs = systemClock.now() - from
    path.heal()
    await healing(client)
    expect(replacedMs).toBeLessThan(2_000)
  })

  test('rejects commands to a killed server at once, and receives answers within 1 s after its restart', async () => {
    server.pause()
    const pending = timed(inFlight(client))
    await server.kill()
    const { ms } = await pending
    await server.restart()
    const healedMs = await healing(client)
    // includes the end of the server's process, which takes some hundred ms on a busy machine
    expect(ms).toBeLessThan(1_000)
    expect(healedMs).toBeLessThan(1_000)
  })

  test('connects at most twice a second to a server that closes its connections', async () => {
    // the first retry may be immediate
    const [, ...times] = await connectsTo((url) => make(url), 6)
    const elapsedMs = times[times.length - 1] - times[0]
    expect(elapsedMs).toBeGreaterThan((times.length - 1) * 500 - 100)
  })

  test('reports errors to onError, and prints nothing', () => {
    expect(errors.length).toBeGreaterThan(0)
  })
})
