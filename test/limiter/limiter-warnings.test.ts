import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import {
  createInflightLimiter,
  createLimiter,
  DENY,
  inflightLimit,
  type RequestSluice,
  rateLimit,
  slowDown,
} from '@sluice/express'
import type { InflightBackend } from '@sluice/limiter-core'
import { RequestLifecycle } from '@sluice/node-http/adapter'
import { FakeClock, Warnings } from '@sluice/testkit'
import express, { type RequestHandler } from 'express'
import request from 'supertest'

const warnings = new Warnings()

beforeEach(() => warnings.listen())
afterEach(() => warnings.stop())

const RATE = { limit: 99, window: '1m' } as const

const fails = (): never => {
  throw new Error('no database')
}
const ok: RequestHandler = (_req, res) => {
  res.send('ok')
}
const withoutAddress: RequestHandler = (req, _res, next) => {
  Object.defineProperty(req.socket, 'remoteAddress', { value: undefined })
  next()
}

function asks(ask: (sluice: RequestSluice) => unknown): RequestHandler {
  return (req, _res, next) => {
    ask(req.sluice as RequestSluice)
    next()
  }
}

/** A stopped clock that throws when it is read after the limiters have been created. */
function brokenClock(): FakeClock {
  const clock = new FakeClock()
  setImmediate(() => Object.assign(clock, { now: fails }))
  return clock
}

/** A permit backend with this result. */
function places(acquire: () => unknown): InflightBackend {
  return { name: 'places', acquire } as unknown as InflightBackend
}

/** Route handlers with a limiter of this name that each fail in a different way. */
type Failing = (name: string) => readonly RequestHandler[]

const rate = (name: string, more: object): RequestHandler => rateLimit({ ...RATE, ...more, name })
const cap = (name: string, more: object): RequestHandler => inflightLimit({ limit: 99, ...more, name })

const failing: readonly (readonly [what: string, code: string, limiter: Failing])[] = [
  ['a key', 'SLUICE_KEY_FALLBACK', (name) => [rate(name, { key: fails })]],
  ['a key of a cap', 'SLUICE_KEY_FALLBACK', (name) => [cap(name, { key: fails })]],
  ['an address', 'SLUICE_NO_ADDRESS', (name) => [withoutAddress, rate(name, {})]],
  ['a skip', 'SLUICE_HOOK_FAILED', (name) => [rate(name, { skip: fails })]],
  ['a skip of a cap', 'SLUICE_HOOK_FAILED', (name) => [cap(name, { skip: fails })]],
  ['a weight', 'SLUICE_HOOK_FAILED', (name) => [cap(name, { weight: fails })]],
  ['a cost', 'SLUICE_HOOK_FAILED', (name) => [rate(name, { cost: fails })]],
  [
    'a cost of a slow-down',
    'SLUICE_HOOK_FAILED',
    (name) => [slowDown({ name, after: 9, delayMs: 1, maxDelayMs: 9, window: '1m', cost: fails })],
  ],
  [
    'a plan',
    'SLUICE_HOOK_FAILED',
    (name) => [rateLimit({ plans: { free: [{ ...RATE, name }] }, plan: () => 'gold' as never })],
  ],
  ['a settle', 'SLUICE_HOOK_FAILED', (name) => [rate(name, { cost: { reserve: 1, settle: fails } })]],
  ['a message', 'SLUICE_HOOK_FAILED', (name) => [rate(name, { key: () => DENY, message: fails })]],
  ['a message of a cap', 'SLUICE_HOOK_FAILED', (name) => [cap(name, { key: () => DENY, message: fails })]],
  ['a charge', 'SLUICE_HOOK_FAILED', (name) => [rate(name, {}), asks((sluice) => sluice.charge(Number.NaN))]],
  [
    'a charge of another policy',
    'SLUICE_UNKNOWN_POLICY',
    (name) => [rate(name, {}), asks((sluice) => sluice.charge(1, 'tokens'))],
  ],
  ['a limiter that is mounted twice', 'SLUICE_LIMITER_TWICE', (name) => Array(2).fill(rate(name, {}))],
  ['a cap that is mounted twice', 'SLUICE_LIMITER_TWICE', (name) => Array(2).fill(cap(name, {}))],
  ['a clock', 'SLUICE_BACKEND_FAILED', (name) => [rate(name, { clock: brokenClock() })]],
  ['a permit backend', 'SLUICE_BACKEND_FAILED', (name) => [cap(name, { backend: places(fails) })]],
  [
    'a release',
    'SLUICE_BACKEND_FAILED',
    (name) => [cap(name, { backend: places(() => ({ release: fails, lost: new AbortController().signal })) })],
  ],
  ['a cap that waits for handlers it cannot see', 'SLUICE_BAD_OPTION', (name) => [cap(name, { holdUntil: 'handler' })]],
  ['an observer', 'SLUICE_OBSERVER_DROPPED', (name) => [rate(name, { observers: [{ decided: fails }] })]],
  [
    'an observer of a cap',
    'SLUICE_OBSERVER_DROPPED',
    (name) => [cap(name, { observers: [{ permitAcquired: fails }] })],
  ],
]

describe('a warning about a limiter names it, and is printed once for each limiter', () => {
  test.each(failing)('for a failure of %s', async (_what, code, limiter) => {
    const app = express()
    for (const name of ['first', 'second']) app.get(`/${name}`, ...limiter(name), ok)
    await new Promise(setImmediate)
    for (const name of ['first', 'first', 'second', 'first', 'second']) {
      const { text } = await request(app).get(`/${name}`)
      expect(text).not.toContain('docs/errors.md')
    }
    expect(warnings.codes).toEqual([code, code])
    expect(warnings.texts.map((text) => /^limiter '(\w+)': /.exec(text)?.[1])).toEqual(['first', 'second'])
  })

  test('for each kind of failure of one limiter', async () => {
    const app = express()
    app.get('/', rate('api', { skip: fails, cost: fails, key: fails }), ok)
    for (let asked = 0; asked < 3; asked++) await request(app).get('/').expect(200)
    expect(warnings.codes).toEqual(['SLUICE_HOOK_FAILED', 'SLUICE_KEY_FALLBACK', 'SLUICE_HOOK_FAILED'])
    expect(warnings.texts.map((text) => /: (\w+) failed/.exec(text)?.[1])).toEqual(['skip', undefined, 'cost'])
  })

  test('with all of its names', async () => {
    const app = express()
    const policies = ['second', 'minute'].map((name, index) => ({ ...RATE, limit: 99 + index, name }))
    app.get('/', rateLimit({ policies, skip: fails }), ok)
    await request(app).get('/').expect(200)
    expect(warnings.texts).toEqual([expect.stringMatching(/^limiter 'second, minute': skip failed/)])
  })

  test('also outside of requests', () => {
    const policies = [{ ...RATE, name: 'jobs' }]
    createLimiter({ policies, observers: [{ decided: fails }] }).take('anna')
    createInflightLimiter({ limit: 1, name: 'work', observers: [{ permitAcquired: fails }] }).acquire()
    expect(warnings.texts).toEqual([
      expect.stringMatching(/^limiter 'jobs': an observer threw/),
      expect.stringMatching(/^limiter 'work': an observer threw/),
    ])
  })
})

test('a charge before every limiter is warned about once per process', async () => {
  const app = express()
  app.get(
    '/',
    (req, res, next) => {
      RequestLifecycle.of(req, res).charge(1, 'tokens')
      next()
    },
    rate('api', {}),
    ok,
  )
  for (let asked = 0; asked < 2; asked++) await request(app).get('/').expect(200)
  expect(warnings.texts).toEqual([expect.stringMatching(/^charge: policy 'tokens' .* \(counted by: no policy\) \(/)])
})

test('an unbounded number of limiters prints at most a hundred warnings per code', async () => {
  for (let built = 0; built < 150; built++) {
    const app = express().use(rateLimit({ ...RATE, name: `built ${built}`, skip: fails }), ok)
    await request(app).get('/')
  }
  expect(warnings.codes.filter((code) => code === 'SLUICE_HOOK_FAILED')).toHaveLength(100)
  expect(warnings.texts[99]).toContain('after 100 warnings with this code, no more are printed')
})
