import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { inflightLimit } from '@sluice/express'
import { sluice } from '@sluice/fastify'
import type { CapHandle } from '@sluice/limiter-core'
import { adaptive } from '@sluice/overload'
import { createRedis, redisInflight } from '@sluice/redis'
import { until } from '@sluice/testkit'
import express from 'express'
import Fastify from 'fastify'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'

const LIMIT = 4
const PATIENT = { timeoutMs: 20_000 }

/** A server whose requests end when the test says so. */
interface Site {
  readonly url: string
  readonly waiting: (() => void)[]
}

let redis: RedisServer
let sites = 0
let handles: CapHandle[] = []
const endings: (() => unknown)[] = []

beforeAll(async () => {
  redis = await startRedis()
})

afterEach(async () => {
  for (const end of endings.splice(0)) await end()
})

afterAll(async () => {
  await redis.stop()
})

/** The options of one process. What finds no place waits. */
function options() {
  const client = createRedis(redis.url)
  const backend = redisInflight(client, { leaseMs: '20s', deadlineMs: '5s' })
  endings.unshift(
    () => backend.close?.(),
    () => client.disconnect(),
  )
  const limit = adaptive({ min: LIMIT, max: LIMIT })
  const priority = { header: 'x-priority' }
  const observers = [{ capOpened: (handle: CapHandle) => void handles.push(handle) }]
  return { name: `site-${sites}`, limit, backend, priority, queue: { max: 10, maxWaitMs: '10s' }, observers } as const
}

async function startExpress(waiting: Site['waiting']): Promise<Site> {
  const app = express()
  app.use(inflightLimit(options()))
  app.get('/', async (_req, res) => {
    await new Promise<void>((resolve) => waiting.push(resolve))
    res.send('done')
  })
  const server = app.listen(0, '127.0.0.1')
  endings.unshift(() => server.close())
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, waiting }
}

async function startFastify(waiting: Site['waiting']): Promise<Site> {
  const app = Fastify()
  endings.unshift(() => app.close())
  await app.register(sluice, { inflightLimit: options() })
  app.get('/', async () => {
    await new Promise<void>((resolve) => waiting.push(resolve))
    return 'done'
  })
  return { url: `${await app.listen({ port: 0, host: '127.0.0.1' })}/`, waiting }
}

test.each([
  ['Express', startExpress],
  ['Fastify', startFastify],
])('two processes with %s share one learned limit, and queue what finds no place by priority', async (_, start) => {
  sites++
  handles = []
  const [one, other] = [await start([]), await start([])]
  const ends: string[] = []
  const visit = async ({ url }: Site, priority: string): Promise<void> => {
    const { status } = await fetch(url, { headers: { 'x-priority': priority } })
    ends.push(`${priority} ${status}`)
  }
  const running = (): number => one.waiting.length + other.waiting.length
  const visits = Array.from({ length: LIMIT }, () => visit(one, 'normal'))
  await until(() => running() === LIMIT, PATIENT)
  visits.push(visit(one, 'low'), visit(one, 'critical'), visit(other, 'normal'), visit(other, 'normal'))
  await until(() => handles.reduce((sum, handle) => sum + handle.waiting(), 0) === 4, PATIENT)
  for (let answered = 1; answered <= visits.length; answered++) {
    await until(() => running() > 0, PATIENT)
    expect(running()).toBeLessThanOrEqual(LIMIT)
    const next = one.waiting.shift() ?? other.waiting.shift()
    next?.()
    await until(() => ends.length === answered, PATIENT)
  }
  await Promise.all(visits)
  const counts = ['normal 200', 'critical 200', 'low 200'].map((end) => ends.filter((one) => one === end).length)
  expect(counts).toEqual([LIMIT + 2, 1, 1])
  expect(ends.indexOf('critical 200')).toBeLessThan(ends.indexOf('low 200'))
})
