import { createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createSluice } from '@sluice/express'
import { rateLimit as hook } from '@sluice/fastify'
import { RateGate, SlowDownGate } from '@sluice/http'
import {
  type Answer,
  type Backend,
  createInflightLimiter,
  createLimiter,
  type InflightBackend,
  memoryBackend,
} from '@sluice/limiter-core'
import { inflightLimit, limitConnections, limitUpgrade } from '@sluice/node-http'
import { leasedBackend, redisBackend, redisInflight } from '@sluice/redis'
import { sketchInflight } from '@sluice/sketches/limits'
import { Warnings } from '@sluice/testkit'
import { codeOf } from '../../code-of.ts'

const warnings = new Warnings()

beforeEach(() => warnings.listen())
afterEach(() => warnings.stop())

const RATE = { limit: 3, window: '1m' } as const
const SLOW = { after: 3, window: '1m', delayMs: 10, maxDelayMs: 20 } as const

type More = { readonly name?: string; readonly scope?: string; readonly shared?: boolean }
type Make = (more: More) => unknown

const runner = () => ({ run: () => new Promise<unknown>(() => {}) })

/** Constructors of limiters that count in one place. */
const RATES: Readonly<Record<string, () => Make>> = {
  'rateLimit of createSluice': () => {
    const { rateLimit } = createSluice({ backend: memoryBackend() })
    return (more) => rateLimit({ ...RATE, ...more })
  },
  'slowDown of createSluice': () => {
    const { slowDown } = createSluice({ backend: memoryBackend() })
    return (more) => slowDown({ ...SLOW, ...more })
  },
  'a limiter of createSluice': () => {
    const { limiter } = createSluice({ backend: memoryBackend() })
    return ({ name, ...more }) => limiter({ policies: [{ ...RATE, ...(name && { name }) }], ...more })
  },
  createLimiter: () => {
    const backend = memoryBackend()
    return ({ name, ...more }) => createLimiter({ policies: [{ ...RATE, ...(name && { name }) }], backend, ...more })
  },
  'a policy with its own backend': () => {
    const backend = memoryBackend()
    return ({ name, ...more }) => new RateGate({ policies: [{ ...RATE, backend, ...(name && { name }) }], ...more })
  },
  'plans of one limiter': () => {
    const backend = memoryBackend()
    return ({ name, ...more }) => {
      const policies = [{ ...RATE, ...(name && { name }) }]
      return new RateGate({ plans: { free: policies, pro: policies }, plan: () => 'free', backend, ...more })
    }
  },
  'a hook of Fastify': () => {
    const backend = memoryBackend()
    return (more) => hook({ ...RATE, backend, ...more })
  },
  SlowDownGate: () => {
    const backend = memoryBackend()
    return (more) => new SlowDownGate({ ...SLOW, backend, ...more })
  },
  'the rates of limitUpgrade': () => {
    const backend = memoryBackend()
    return (more) => limitUpgrade({ rateLimit: { ...RATE, backend, ...more } })
  },
}

describe.each(Object.entries(RATES))('%s', (_what, makerOf) => {
  test('is rejected if it is the second one without a name in a scope, with a hint in the message', () => {
    const make = makerOf()
    make({})
    expect(() => make({})).toThrow(/^SLUICE_UNNAMED_LIMITER: .*name: .*shared: true/)
    expect(codeOf(() => make({ scope: 'other' }))).toBe('accepted')
    expect(codeOf(() => make({ scope: 'other' }))).toBe('SLUICE_UNNAMED_LIMITER')
    expect(codeOf(() => make({ name: 'login' }))).toBe('accepted')
    expect(warnings.codes).toEqual([])
  })

  test('logs one warning if it has the name of another one, unless it sets shared', () => {
    const make = makerOf()
    for (let time = 0; time < 3; time++) make({ name: 'api' })
    expect(warnings.codes).toEqual(['SLUICE_SHARED_COUNT'])
    expect(warnings.texts[0]).toMatch(/^policy 'api' in scope 'default': .*shared: true/)
    make({ name: 'other', shared: true })
    make({ name: 'other', shared: true })
    make({})
    make({ shared: true })
    expect(warnings.codes).toHaveLength(1)
  })
})

/** Constructors of caps that count in one place. */
const CAPS: Readonly<Record<string, () => Make>> = {
  inflightLimit: () => {
    const backend = sketchInflight()
    return (more) => inflightLimit({ limit: 3, backend, ...more })
  },
  createInflightLimiter: () => {
    const backend: InflightBackend = { acquire: () => ({ allowed: false, retryAfterMs: 1_000 }) }
    return (more) => createInflightLimiter({ limit: 3, backend, ...more })
  },
  limitConnections: () => {
    const backend = sketchInflight()
    return (more) => limitConnections(createServer(), { limit: 3, backend, ...more })
  },
}

describe.each(Object.entries(CAPS))('%s on a backend', (_what, makerOf) => {
  test('is rejected if it is the second one without a name', () => {
    const make = makerOf()
    make({})
    expect(() => make({})).toThrow(/^SLUICE_UNNAMED_LIMITER: cap '\w+': .*shared: true/)
    make({ shared: true })
    make({ name: 'report' })
    expect(warnings.codes).toEqual([])
    make({ name: 'report' })
    make({ name: 'report' })
    expect(warnings.codes).toEqual(['SLUICE_SHARED_COUNT'])
  })
})

test('backends created separately for each limiter over one Redis client cause a warning, because they may be two releases', () => {
  const client = runner()
  new RateGate({ ...RATE, backend: redisBackend(client) })
  new RateGate({ ...RATE, backend: leasedBackend(client), shared: true })
  expect(warnings.codes).toEqual([])
  new RateGate({ ...RATE, backend: leasedBackend(client) })
  new RateGate({ ...RATE, limit: 9, backend: redisBackend(client) })
  expect(warnings.codes).toEqual(['SLUICE_SHARED_COUNT'])
  for (let time = 0; time < 3; time++) createInflightLimiter({ limit: 3, backend: redisInflight(client) })
  expect(warnings.codes).toEqual(['SLUICE_SHARED_COUNT', 'SLUICE_SHARED_COUNT'])
  expect(warnings.texts[1]).toMatch(/^cap 'inflight': .*shared: true/)
})

test('two services on one Redis are separate: with their own prefixes, scopes of caps and clients', () => {
  const client = runner()
  for (const backend of [redisBackend(client), redisBackend(client, { prefix: 'shop' }), redisBackend(runner())]) {
    new RateGate({ ...RATE, backend })
  }
  const caps = [
    redisInflight(client),
    redisInflight(client, { scope: 'shop' }),
    redisInflight(client, { prefix: 'shop' }),
  ]
  for (const backend of caps) createInflightLimiter({ limit: 3, backend })
  expect(warnings.codes).toEqual([])
})

test('a closed limiter, or one that was rejected for another reason, releases its name', () => {
  const backend: Backend<Answer> = memoryBackend()
  for (let time = 0; time < 3; time++) createLimiter({ policies: [RATE], backend }).close()
  const caps = sketchInflight()
  for (let time = 0; time < 3; time++) limitConnections(createServer(), { limit: 3, backend: caps }).close()
  const wrong = { policies: [RATE, { ...RATE, name: 'wrong', algorithm: 'gcra', limit: 999_999 }], backend } as const
  expect(codeOf(() => createLimiter(wrong))).toBe('SLUICE_BAD_POLICY')
  expect(codeOf(() => createLimiter({ policies: [RATE], backend }))).toBe('accepted')
})

test('other data under the same name is rejected whatever the options are', () => {
  const backend = memoryBackend()
  createLimiter({ policies: [RATE], backend })
  const other = { policies: [{ ...RATE, limit: 4 }], backend }
  expect(codeOf(() => createLimiter(other))).toBe('SLUICE_DUPLICATE_POLICY')
  expect(codeOf(() => createLimiter({ ...other, shared: true }))).toBe('SLUICE_DUPLICATE_POLICY')
})

test('in the memory of the process nothing is rejected: each limiter counts separately, and a scope is shared on purpose', () => {
  const limiters = [1, 2].map(() => createLimiter({ policies: [RATE] }))
  expect(limiters.map((limiter) => limiter.take('me').binding.remaining)).toEqual([2, 2])
  const shared = [1, 2].map(() => createLimiter({ policies: [RATE], scope: 'unnamed together' }))
  expect(shared.map((limiter) => limiter.take('me').binding.remaining)).toEqual([2, 1])
  expect(warnings.codes).toEqual([])
})

test.each([5, 'yes', null])('shared: %p is invalid', (shared) => {
  const options = { policies: [RATE], shared: shared as never }
  expect(codeOf(() => createLimiter(options))).toBe('SLUICE_BAD_OPTION')
  expect(codeOf(() => createInflightLimiter({ limit: 1, shared: shared as never }))).toBe('SLUICE_BAD_OPTION')
})
