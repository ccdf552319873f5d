import { describe, expect, test } from '@jest/globals'
import { createSluice } from '@sluice/express'
import { RateGate, type RateLimitOptions } from '@sluice/http'
import { memoryBackend } from '@sluice/limiter-core'
import { FakeClock, failingBackend } from '@sluice/testkit'
import { fastify } from 'fastify'
import { limited, limits, opened, statuses } from '../../adapters/fastify/fastify-injected.ts'
import { viewOf } from '../../keys/request-view.ts'

const clock = new FakeClock()
const api = { name: 'api', limit: 5, window: '1m', algorithm: 'fixed-window' } as const

describe('a limiter', () => {
  test('uses the shared backend', async () => {
    const backend = memoryBackend({ clock })
    const { limiter } = createSluice({ backend })
    const one = limiter({ policies: [api], backend: undefined, shared: true })
    const other = limiter({ policies: [api], shared: true })
    one.take('a')
    expect(other.take('a').binding.remaining).toBe(3)
  })

  test('is denied by the shared rule', async () => {
    const backend = failingBackend(() => Promise.reject(new Error('nobody is there')))
    const { limiter } = createSluice({ backend, onBackendError: 'deny' })
    expect(await limiter({ policies: [api], onBackendError: undefined }).take('a')).toMatchObject({ source: 'deny' })
  })
})

test('a plugin scope inherits the options of its parent', () => {
  const said = { ...api, clock, key: () => 'all', status: 420, headers: 'none', skip: () => false } as const
  const app = new RateGate<unknown, unknown>(said as RateLimitOptions)
  const unsaid = { key: undefined, status: undefined, headers: undefined, clock: undefined, backend: undefined }
  const part = app.nested({
    options: { ...api, limit: 1, name: 'own', ...unsaid } as RateLimitOptions,
    routeScope: 'part',
  })
  part.check(viewOf({ raw: {} }))
  expect(part.check(viewOf({ raw: {}, ip: '203.0.113.99' }))).toMatchObject({
    keys: ['all', 'all'],
    denial: { status: 420 },
  })
})

describe('a route of Fastify', () => {
  const app = opened(fastify)

  test('combines the delays and caps of the application with its own options', async () => {
    const inflightLimit = { limit: 2, status: 420, weight: () => 1 }
    const made = await limited(app(), { inflightLimit })
    const own = { name: 'own', limit: 1, status: undefined, weight: () => 2 }
    made.get('/', limits({ inflightLimit: own }), async () => 'ok')
    expect(await statuses(made, '/')).toEqual([420])
  })
})
