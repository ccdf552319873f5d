import { describe, expect, jest, test } from '@jest/globals'
import { inflightLimit, rateLimit, slowDown } from '@sluice/express'
import { rateLimit as koaRateLimit } from '@sluice/koa'
import { byAll, byHeader, byIp, byPrincipal, byRoute, createInflightLimiter, createLimiter } from '@sluice/limiter-core'
import { leasedBackend, redisInflight } from '@sluice/redis'
import express from 'express'
import Koa from 'koa'
import request from 'supertest'
import { express4 } from '../../adapters/express/express4.ts'
import { Koa2 } from '../../adapters/koa/koa2.ts'

type Untyped = (options: unknown) => unknown

const limit = rateLimit as unknown as Untyped
const policy = { limit: 5, window: '1m' } as const
const runner = { run: async () => '' }

describe('the error message for a mistake has a hint', () => {
  test.each<[string, () => unknown, string]>([
    [
      'a plan without a list',
      () => limit({ plans: { free: policy }, plan: () => 'free' }),
      'plans.free: expected a non-empty array of policies, received an object',
    ],
    [
      'a cost that is a string',
      () => limit({ ...policy, cost: '2' }),
      'expected a number, a function of the request, or { reserve, settle }',
    ],
    [
      'a limit next to policies',
      () => limit({ limit: 5, policies: [policy] }),
      'rateLimit: expected limit in each policy of policies, received an unknown option "limit"',
    ],
    [
      'a window next to plans',
      () => limit({ window: '1m', plans: { free: [policy] }, plan: () => 'free' }),
      'rateLimit: expected window in each policy of plans, received an unknown option "window"',
    ],
    [
      'a name that is null',
      () => limit({ ...policy, name: null }),
      'name: expected 1 to 128 printable ASCII characters (an RFC 9651 string), received null',
    ],
    [
      'the window of express-rate-limit',
      () => limit({ limit: 5, windowMs: 60_000 }),
      'rateLimit: expected window: \'1m\', received an unknown option "windowMs"',
    ],
    [
      'the limit of rate-limiter-flexible',
      () => limit({ points: 5, window: '1m' }),
      'rateLimit: expected limit: 100, received an unknown option "points"',
    ],
    [
      'the window of @fastify/rate-limit',
      () => limit({ limit: 5, timeWindow: '1m' }),
      'rateLimit: expected window: \'1m\', received an unknown option "timeWindow"',
    ],
    [
      'the key of express-rate-limit',
      () => limit({ ...policy, keyGenerator: () => 'a' }),
      'rateLimit: expected key: (req) => …, received an unknown option "keyGenerator"',
    ],
    [
      'the body of @fastify/rate-limit',
      () => limit({ ...policy, errorResponseBuilder: () => ({}) }),
      'rateLimit: expected message: (req, { denial }) => …, received an unknown option',
    ],
    [
      'the block of @nestjs/throttler',
      () => limit({ ...policy, blockDuration: 1_000 }),
      "rateLimit: expected ban: { after: 3, within: '10m', for: '1h' }, received an unknown option",
    ],
    [
      'failures that are not counted',
      () => limit({ ...policy, skipFailedRequests: true }),
      "rateLimit: expected countOnly: 'successes', received an unknown option",
    ],
    [
      'the delay of express-slow-down',
      () => (slowDown as unknown as Untyped)({ delayAfter: 1, window: '1m', delayMs: 1, maxDelayMs: 1 }),
      'slowDown: expected after: 50, received an unknown option "delayAfter"',
    ],
    [
      'a delay without a unit',
      () => (slowDown as unknown as Untyped)({ after: 1, window: '1m', delayMs: '100', maxDelayMs: 1 }),
      "delayMs: expected a duration such as '500ms' or '10s', or a number of at least 0 (ms), received \"100\"",
    ],
    [
      'a lease without a unit',
      () => leasedBackend(runner, { leaseMs: '10' as never }),
      "leaseMs: expected a duration such as '500ms' or '10s', or a number of at least 0 (ms), received \"10\"",
    ],
    [
      'a lease that is too long',
      () => leasedBackend(runner, { leaseMs: '2m' }),
      'expected a duration from 100 to 60000 ms,',
    ],
    [
      'an observer without methods',
      () => limit({ ...policy, observers: [{ onDecided() {} }] }),
      'observers[0]: expected an observer with at least one of the methods decided, charged, permitAcquired, ' +
        'permitReleased, capDenied, capLeft, backendAnswered, limiterOpened, limiterClosed, capOpened, capClosed, event, received an object',
    ],
    [
      'an observer of a cap without methods',
      () => createInflightLimiter({ limit: 5, observers: [{}] }),
      'observers[0]: expected an observer with at least one of the methods',
    ],
    [
      'an observer that is missing',
      () => createLimiter({ policies: [policy], observers: [{ decided() {} }, undefined as never] }),
      'observers[1]: expected an observer with at least one of the methods',
    ],
    [
      'an observer of a limiter without methods',
      () => createLimiter({ policies: [policy], observers: [{}] }),
      'observers[0]: expected an observer with at least one of the methods',
    ],
  ])('%s', (_, build, message) => expect(build).toThrow(message))

  test('durations are accepted as strings wherever milliseconds are', () => {
    expect(() => leasedBackend(runner, { leaseMs: '10s' })).not.toThrow()
    expect(() => redisInflight(runner, { limit: 5, leaseMs: '10s' })).not.toThrow()
  })

  test.each([byAll, byHeader, byIp, byPrincipal, byRoute])('%p without a call is not a key', (maker) => {
    const message = `key: expected a function such as byIp(), received ${maker.name} without a call`
    expect(() => limit({ ...policy, key: maker })).toThrow(message)
    expect(() => (inflightLimit as unknown as Untyped)({ limit: 5, key: maker })).toThrow(message)
  })
})

describe('a limiter that was not called is rejected where it is used', () => {
  test.each([
    ['Express 5', express],
    ['Express 4', express4],
  ])('%s', (_, framework) => {
    for (const maker of [rateLimit, inflightLimit, slowDown]) {
      expect(() => framework().use(maker as never)).toThrow(
        `app.use: expected the result of ${maker.name}({ … }), received the function ${maker.name} itself`,
      )
      expect(() => framework().use('/path', maker as never)).toThrow('SLUICE_BAD_OPTION')
    }
    expect(() => framework().use(rateLimit(policy))).not.toThrow()
  })

  test.each([
    ['Koa 3', Koa],
    ['Koa 2', Koa2 as unknown as typeof Koa],
  ])('%s', (_, Framework) => {
    expect(() => new Framework().use(koaRateLimit as never)).toThrow('received the function rateLimit itself')
    expect(() => new Framework().use(koaRateLimit(policy))).not.toThrow()
  })

  test('and by its answer to a request, if the framework does not check', async () => {
    const failed = jest.fn()
    const app = express()
    app.get('/', rateLimit as never)
    app.use(((error, _req, res, _next) => {
      failed(error.message)
      res.status(500).end()
    }) as express.ErrorRequestHandler)
    await request(app).get('/')
    expect(failed).toHaveBeenCalledWith(
      expect.stringMatching(
        /^SLUICE_BAD_OPTION: rateLimit: expected options, as in rateLimit\(\{ … \}\), received a request/,
      ),
    )
  })
})
