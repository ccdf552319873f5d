import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { systemClock } from '@sluice/limiter-core/backend'
import { scriptRunner } from '@sluice/redis'
import { until } from '@sluice/testkit'
import { startProxy, type TcpProxy } from '../../services/proxies/tcp-proxy.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { ioredisMaker, nodeRedisMaker, type RecoveringClient } from './recovering-client.ts'

const ATTEMPTS = 10
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

/** A client with its own server, and the path between them. */
interface Rig {
  readonly server: RedisServer
  readonly path: TcpProxy
  readonly client: RecoveringClient
  readonly make: Awaited<ReturnType<typeof ioredisMaker>>
  readonly errors: Error[]
}

const rigs = new Map<string, Rig>()

/** Runs `claim` on all clients at the same time. */
async function onEach(claim: (rig: Rig) => Promise<void>): Promise<void> {
  const outcomes = await Promise.allSettled([...rigs.values()].map(claim))
  const failures = [...rigs.keys()].flatMap((name, index) => {
    const outcome = outcomes[index]
    return outcome.status === 'rejected' ? [`${name}: ${outcome.reason}`] : []
  })
  expect(failures).toEqual([])
}

/** Repeats a fault until the client was fast enough: a busy machine may need several attempts. */
async function withinMs(
  bounds: Readonly<Record<string, number>>,
  fault: () => Promise<Readonly<Record<string, number>>>,
) {
  let late: unknown[] = []
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const times = await fault()
    late = Object.entries(bounds).filter(([what, atMostMs]) => times[what] > atMostMs)
    if (late.length === 0) return
  }
  expect(late).toEqual([])
}

beforeAll(async () => {
  for (const [name, maker] of makers) {
    const [make, server] = await Promise.all([maker(), startRedis()])
    const path = await startProxy(server.port)
    const errors: Error[] = []
    const client = make(path.url, { onError: (error) => errors.push(error) })
    rigs.set(name, { server, path, client, make, errors })
  }
  await onEach(({ client }) => until(() => client.isReady))
})

afterAll(() =>
  onEach(async ({ client, path, server }) => {
    client.close()
    await path.stop()
    await server.stop()
  }),
)

describe('a client of createRedis on ioredis 5 and 6, and of createNodeRedis on node-redis 5 and 6', () => {
  test('keeps the connection with which it recovered', () =>
    onEach(async ({ server, path, client }) => {
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
    }))

  test('rejects commands to a stopped server within 1.5 s, and receives answers within 1 s after it resumes', () =>
    onEach(({ server, client }) =>
      withinMs({ ms: 1_500, healedMs: 1_000 }, async () => {
        server.pause()
        const { ms, outcomes } = await timed(inFlight(client))
        server.resume()
        const healedMs = await healing(client)
        expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
        return { ms, healedMs }
      }),
    ))

  test('rejects them earlier with a shorter socketTimeout', () =>
    onEach(({ server, path, make }) =>
      withinMs({ ms: 900 }, async () => {
        const hasty = make(path.url, { socketTimeout: 200 })
        await until(() => hasty.isReady)
        server.pause()
        const { ms, outcomes } = await timed(inFlight(hasty))
        server.resume()
        hasty.close()
        expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
        expect(ms).toBeGreaterThan(150)
        return { ms }
      }),
    ))

  test('rejects commands on a path that drops packets, and receives answers within 2 s after it is repaired', () =>
    onEach(({ path, client }) =>
      withinMs({ ms: 1_500, healedMs: 2_000 }, async () => {
        path.blackHole()
        const before = path.connections
        const { ms, outcomes } = await timed(inFlight(client))
        await until(() => path.connections > before && client.isConnected)
        path.heal()
        const healedMs = await healing(client)
        expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
        return { ms, healedMs }
      }),
    ))

  test('replaces the connection while calls go on over a path that drops packets', () =>
    onEach(({ path, client }) =>
      withinMs({ replacedMs: 2_000 }, async () => {
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
        return { replacedMs }
      }),
    ))

  test('rejects commands to a killed server at once, and receives answers within 1 s after its restart', () =>
    onEach(({ server, client }) =>
      withinMs({ ms: 1_000, healedMs: 1_000 }, async () => {
        server.pause()
        const pending = timed(inFlight(client))
        await server.kill()
        const { ms } = await pending
        await server.restart()
        return { ms, healedMs: await healing(client) }
      }),
    ))

  test('connects at most twice a second to a server that closes its connections', () =>
    onEach(async ({ make }) => {
      // the first retry may be immediate
      const [, ...times] = await connectsTo((url) => make(url), 6)
      const elapsedMs = times[times.length - 1] - times[0]
      expect(elapsedMs).toBeGreaterThan((times.length - 1) * 500 - 100)
    }))

  test('reports errors to onError, and prints nothing', () =>
    onEach(async ({ errors }) => {
      expect(errors.length).toBeGreaterThan(0)
    }))
})
