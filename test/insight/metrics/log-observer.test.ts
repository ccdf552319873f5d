import { createServer } from 'node:http'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { inflightLimit, rateLimit } from '@sluice/express'
import { sluice } from '@sluice/fastify'
import { createInsight, type LogObserverOptions, logObserver } from '@sluice/insight'
import { createLimiter, type Decision } from '@sluice/limiter-core'
import { resetWarnings } from '@sluice/limiter-core/backend'
import { FakeClock } from '@sluice/testkit'
import express from 'express'
import fastify from 'fastify'
import request from 'supertest'

const policies = [{ name: 'api', limit: 1, window: '1h', algorithm: 'fixed-window' }] as const

/** Records lines like pino or like the console. */
function noted(kind: 'pino' | 'console', options: Partial<LogObserverOptions> = {}) {
  const lines: unknown[][] = []
  const warn = (...line: unknown[]) => void lines.push(line)
  const clock = new FakeClock({ nowMs: 10_000 })
  const logger = kind === 'pino' ? { warn, child: () => {} } : { warn }
  return { lines, clock, observer: logObserver({ logger, clock, ...options }) }
}

function denied(clock: FakeClock): Decision {
  const limiter = createLimiter({ policies, clock })
  limiter.take('acme')
  const decision = limiter.take('acme')
  limiter.close()
  return decision
}

beforeEach(() => {
  resetWarnings()
})
afterEach(() => {
  jest.restoreAllMocks()
})

test('a denial is logged with policy, masked key, route, wait and ID', () => {
  const { lines, clock, observer } = noted('pino')
  const asked = { route: '/orders/:id', method: 'GET', request: { headers: { 'x-request-id': 'r-1' } } }
  observer.decided?.('203.0.113.7', denied(clock), asked)
  const fields = { policy: 'api', key: '203.0.113.x', route: '/orders/:id', retryAfterMs: 3_600_000, requestId: 'r-1' }
  expect(lines).toEqual([[fields, 'sluice denied']])
})

test('with an insight, the key is named by its id on the live page', () => {
  const insight = createInsight({ secret: 'a secret of sixteen characters' })
  const { lines, clock, observer } = noted('pino', { insight })
  const limiter = createLimiter({ policies, clock, observers: [insight, observer] })
  for (let times = 0; times < 2; times++) limiter.take('203.0.113.7')
  const [[{ key, id }]] = lines as [[{ key?: string; id: string }]]
  expect([key, insight.snapshot().policies[0].topDenied.map((top) => top.id)]).toEqual([undefined, [id]])
  expect(insight.keyOf(id)).toBe('203.0.113.7')
  limiter.close()
})

test('the console receives one line of text, whatever a client sends', () => {
  const { lines, clock, observer } = noted('console', { privacy: 'full' })
  const asked = { route: undefined, method: 'GET', request: { id: 'a\nb"c' } }
  observer.decided?.('x\r\nfake line', denied(clock), asked)
  const text = 'sluice denied policy="api" key="x\\r\\nfake line" retryAfterMs=3600000 requestId="a\\nb\\"c"'
  expect(lines).toEqual([[text]])
})

test('a key is logged at most once per second, and the next line contains the number of suppressed ones', () => {
  const { lines, clock, observer } = noted('pino')
  const decision = denied(clock)
  for (let second = 0; second < 3; second++) {
    for (let denial = 0; denial < 10; denial++) observer.decided?.('acme-corp', decision)
    observer.decided?.('other-corp', decision)
    clock.advance(1_000)
  }
  const [first, second, third] = lines.map(([fields]) => fields)
  expect(lines.length).toBe(6)
  expect(first).not.toHaveProperty('suppressed')
  expect(second).toMatchObject({ suppressed: 9 })
  expect(third).not.toHaveProperty('suppressed')
})

test('a flood of keys, including long ones, is limited to a thousand lines per second', () => {
  const { lines, clock, observer } = noted('pino')
  const decision = denied(clock)
  for (let key = 0; key < 100_000; key++) observer.decided?.(`${key}-${'x'.repeat(key % 300)}`, decision)
  expect(lines.length).toBe(1_000)
})

test('allowed requests and shadow policies are not logged, and a failure rule is named', async () => {
  const { lines, clock, observer } = noted('pino')
  const shadow = createLimiter({ policies: [{ ...policies[0], mode: 'shadow' }], clock, observers: [observer] })
  for (let take = 0; take < 3; take++) shadow.take('acme')
  shadow.close()
  expect(lines).toEqual([])
  const { binding, verdicts } = denied(clock)
  const decision = {
    allowed: false,
    counted: false,
    source: 'deny',
    retryAfterMs: Number.POSITIVE_INFINITY,
    binding,
    verdicts,
  }
  observer.decided?.('acme-corp', decision as unknown as Decision)
  expect(lines).toEqual([[{ policy: 'api', key: 'acme…', rule: 'deny' }, 'sluice denied']])
})

test('hashed keys are equal with the same secret, and different with another', () => {
  const keyOf = (secret?: string) => {
    const { lines, clock, observer } = noted('pino', { privacy: 'hash', secret })
    observer.decided?.('acme', denied(clock))
    return (lines[0][0] as { key: string }).key
  }
  expect(keyOf('one')).toBe(keyOf('one'))
  expect(keyOf('one')).not.toBe(keyOf('two'))
  expect(keyOf()).not.toBe(keyOf())
})

test('Express: the ID is taken from the header, for limits and for caps', async () => {
  const { lines, observer } = noted('pino')
  const observers = [observer]
  const app = express()
  app.get('/rated', rateLimit({ ...policies[0], observers }), (_req, res) => res.end())
  app.get('/cap', inflightLimit({ name: 'cap', limit: 1, weight: () => 2, observers }), (_req, res) => res.end())
  const server = createServer(app)
  for (const path of ['/rated', '/rated', '/cap']) await request(server).get(path).set('x-request-id', 'abc')
  expect(lines.map(([fields]) => fields)).toEqual([
    expect.objectContaining({ policy: 'api', route: '/rated', requestId: 'abc' }),
    expect.objectContaining({ cap: 'cap', route: '/cap', requestId: 'abc' }),
  ])
})

test('Fastify: uses the request ID and the logger of the request', async () => {
  const lines: Record<string, unknown>[] = []
  const stream = { write: (line: string) => void lines.push(JSON.parse(line)) }
  const app = fastify({ logger: { level: 'warn', stream }, genReqId: () => 'f-1' })
  const observers = [logObserver({ logger: app.log })]
  await app.register(sluice, { rateLimit: { ...policies[0], observers } })
  app.get('/orders/:id', async () => 'ok')
  for (let call = 0; call < 2; call++) await app.inject('/orders/7')
  expect(lines).toEqual([
    expect.objectContaining({ level: 40, msg: 'sluice denied', policy: 'api', route: '/orders/:id', requestId: 'f-1' }),
  ])
  await app.close()
})

test('a logger that throws and an unreadable request do not affect requests', async () => {
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const warn = () => {
    throw new Error('disk full')
  }
  const observers = [logObserver({ logger: { warn } })]
  const app = express().get('/', rateLimit({ ...policies[0], observers }), (_req, res) => res.end())
  const server = createServer(app)
  await request(server).get('/').expect(200)
  await request(server).get('/').expect(429)
  await request(server).get('/').expect(429)
  const { lines, clock, observer } = noted('pino')
  const unread = {
    get headers(): never {
      throw new Error('gone')
    },
  }
  observer.decided?.('acme-corp', denied(clock), { route: undefined, method: 'GET', request: unread })
  expect(lines.length).toBe(1)
})
