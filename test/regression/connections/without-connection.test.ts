import { EventEmitter } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { configure } from '@codegenie/serverless-express'
import { describe, expect, jest, test } from '@jest/globals'
import { inflightLimit, rateLimit } from '@sluice/express'
import { sluice } from '@sluice/fastify'
import { until } from '@sluice/testkit'
import express, { type Express, type Request, type Response } from 'express'
import { fastify } from 'fastify'
import { createMocks, createRequest, createResponse } from 'node-mocks-http'
import serverlessHttp from 'serverless-http'

// Adapters of serverless functions, injected requests and mocks have no real socket: instead they have an object with
// an address, or an emitter that cannot be read.

jest.useFakeTimers({ advanceTimers: true, doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] })

const EVENT = {
  httpMethod: 'GET',
  path: '/',
  headers: {},
  multiValueHeaders: {},
  requestContext: { identity: { sourceIp: '203.0.113.7' } },
}

type Invoke = () => Promise<{ statusCode: number }>

const serverless: Record<string, (app: Express) => Invoke> = {
  'serverless-http': (app) => {
    const invoke = serverlessHttp(app)
    return () => invoke(EVENT, {}) as Promise<{ statusCode: number }>
  },
  '@codegenie/serverless-express': (app) => {
    const invoke = configure({ app }) as unknown as (
      event: unknown,
      context: unknown,
    ) => Promise<{ statusCode: number }>
    return () => invoke(EVENT, {})
  },
}

describe.each(Object.entries(serverless))('%s', (_name, adapt) => {
  test('limits, and releases the permit of each request', async () => {
    const cap = inflightLimit({ limit: 1 })
    const app = express()
      .use(cap, rateLimit({ limit: 3, window: '1m' }))
      .get('/', (_req, res) => res.end('ok'))
    const invoke = adapt(app)
    const statuses: number[] = []
    for (let asked = 0; asked < 4; asked++) {
      statuses.push((await invoke()).statusCode)
      await setImmediate()
    }
    expect(statuses).toEqual([200, 200, 200, 429])
  })
})

test('an injected request may take longer than the interval of connection checks', async () => {
  const app = fastify()
  await app.register(sluice, { inflightLimit: { limit: 1 } })
  let answer: (() => void) | undefined
  app.get('/', (_req, reply) => {
    answer = () => reply.send('late')
    return reply
  })
  const injected = app.inject('/')
  await until(() => answer !== undefined)
  jest.advanceTimersByTime(60_000)
  answer?.()
  expect((await injected).statusCode).toBe(200)
  await app.close()
})

describe('mocks of a request and its response', () => {
  test.each([
    ['without a socket', undefined],
    ['with an empty socket', {}],
  ])('%s reach the handler, and release their permit', async (_how, socket) => {
    const cap = inflightLimit({ limit: 1 })
    for (let asked = 0; asked < 2; asked++) {
      const { req, res } = createMocks<Request, Response>(
        { socket: socket as never, ip: '203.0.113.7' },
        { eventEmitter: EventEmitter },
      )
      const next = jest.fn(() => void res.end('ok'))
      cap(req, res, next)
      expect([next.mock.calls, res.statusCode]).toEqual([[[]], 200])
      await setImmediate()
    }
  })

  test('without events reach the handler', () => {
    const next = jest.fn()
    inflightLimit({ limit: 1 })(createRequest<Request>({ ip: '203.0.113.7' }), createResponse<Response>(), next)
    expect(next.mock.calls).toEqual([[]])
  })
})
