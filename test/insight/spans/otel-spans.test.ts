import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { context, type Span, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { createSluice } from '@sluice/express'
import { otelSpans } from '@sluice/insight'
import { type Backend, createInflightLimiter, createLimiter, memoryBackend } from '@sluice/limiter-core'
import { redisBackend } from '@sluice/redis'
import type { RunningApp } from '@sluice/testkit'
import express, { type Express } from 'express'
import { running } from '../../adapters/running-app.ts'
import { eventually } from '../../services/eventually.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'

const exporter = new InMemorySpanExporter()
const manager = new AsyncLocalStorageContextManager().enable()
const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).getTracer('test')

let server: RedisServer

beforeAll(async () => {
  context.setGlobalContextManager(manager)
  server = await startRedis()
})

afterAll(async () => {
  context.disable()
  await server.stop()
})

beforeEach(() => exporter.reset())

let app: RunningApp | undefined
afterEach(() => app?.close())

/** Returns the attributes of a span around `run`. */
async function within(run: (span: Span) => unknown): Promise<unknown> {
  const span = tracer.startSpan('request')
  await context.with(trace.setSpan(context.active(), span), () => run(span))
  span.end()
  return exporter.getFinishedSpans().at(-1)?.attributes
}

const observers = [otelSpans({ trace })]

/** An application whose requests have a span each, as the instrumentation of HTTP starts them. */
function traced(): Express {
  const made = express()
  made.use((req, res, next) => {
    const span = tracer.startSpan(req.url)
    res.on('finish', () => span.end())
    context.with(trace.setSpan(context.active(), span), next)
  })
  return made
}

describe.each<readonly [string, () => Backend]>([
  ['memory', () => memoryBackend()],
  ['redis', () => redisBackend(server.client())],
])('spans of requests counted in %s', (source, backendOf) => {
  test('have the decision of their own request, also of concurrent ones', async () => {
    const { rateLimit } = createSluice({ backend: backendOf(), observers })
    const made = traced()
    made.use(rateLimit({ name: 'api', limit: 3, window: '1m', key: () => 'one', deadlineMs: 20_000 }))
    made.get('/:id', (_req, res) => {
      res.send('hello')
    })
    app = await running(made)
    const { port } = app
    const ask = async (id: number): Promise<[string, number]> => [
      `/${id}`,
      (await fetch(`http://127.0.0.1:${port}/${id}`)).status,
    ]
    const statuses = await Promise.all(Array.from({ length: 8 }, (_, id) => ask(id)))
    await eventually(async () => exporter.getFinishedSpans().length === 8, { what: 'all spans' })
    const decisions = new Map(exporter.getFinishedSpans().map(({ name, attributes }) => [name, attributes]))
    for (const [path, status] of statuses) {
      const decision = status === 429 ? 'denied' : 'allowed'
      const expected = { 'sluice.decision': decision, 'sluice.policy': 'api', 'sluice.source': source }
      expect([path, decisions.get(path)]).toEqual([path, expected])
    }
    expect(statuses.filter(([, status]) => status === 429)).toHaveLength(5)
  })
})

test('a denial is not overwritten by a later decision, and a shadow denial not by an allowed one', async () => {
  const strict = createLimiter({ policies: [{ name: 'strict', limit: 1, window: '1m' }], observers })
  const shadow = createLimiter({ policies: [{ name: 'tried', limit: 1, window: '1m', mode: 'shadow' }], observers })
  const wide = createLimiter({ policies: [{ name: 'wide', limit: 100, window: '1m' }], observers })
  for (const limiter of [strict, shadow]) limiter.take('a')
  const seen = [
    await within(() => [shadow.take('a'), wide.take('a')]),
    await within(() => [strict.take('a'), shadow.take('a'), wide.take('a')]),
    await within(() => wide.take('a')),
  ]
  expect(seen).toEqual([
    { 'sluice.decision': 'shadow-denied', 'sluice.policy': 'tried', 'sluice.source': 'memory' },
    { 'sluice.decision': 'denied', 'sluice.policy': 'strict', 'sluice.source': 'memory' },
    { 'sluice.decision': 'allowed', 'sluice.policy': 'wide', 'sluice.source': 'memory' },
  ])
})

test('a full cap is named', async () => {
  const cap = createInflightLimiter({ name: 'exports', limit: 1, observers })
  cap.acquire('a')
  expect(await within(() => cap.acquire('a'))).toEqual({
    'sluice.decision': 'denied',
    'sluice.policy': 'exports',
    'sluice.source': 'cap',
  })
})

test('a request that a failure rule allowed is marked', async () => {
  const broken = { run: () => Promise.reject(new Error('CONNECTION')) }
  const backend = redisBackend(broken)
  const limiter = createLimiter({ limit: 1, window: '1m', backend, onBackendError: 'allow', observers })
  expect(await within(() => limiter.take('a'))).toMatchObject({
    'sluice.decision': 'allowed',
    'sluice.fail_open': true,
  })
})

test('nothing is written without a span, and to a span that is not recorded', () => {
  const limiter = createLimiter({ limit: 1, window: '1m', observers })
  expect(limiter.take('a').allowed).toBe(true)
  const span = trace.wrapSpanContext({ traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 0 })
  context.with(trace.setSpan(context.active(), span), () => limiter.take('a'))
  expect(exporter.getFinishedSpans()).toEqual([])
})
