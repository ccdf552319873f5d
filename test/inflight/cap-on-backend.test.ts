import { expect, test } from '@jest/globals'
import { InflightGate } from '@sluice/http'
import { type Cap, createInflightLimiter, type InflightBackend } from '@sluice/limiter-core'
import { LimitLayer } from '@sluice/node-http/adapter'

function backendOf(limit?: number): InflightBackend & { readonly asked: (Cap | undefined)[] } {
  const asked: (Cap | undefined)[] = []
  return {
    limit,
    asked,
    acquire: (_key, options) => {
      asked.push(options?.cap)
      return { allowed: false, retryAfterMs: 1_000 }
    },
    count: (_key, cap) => asked.push(cap),
  }
}

test('a backend receives the cap with each request and each subscription', () => {
  const backend = backendOf()
  const cap = createInflightLimiter({ name: 'report', limit: 3, maxHoldMs: '10s', backend })
  cap.acquire('k', { weight: 2 })
  cap.count('k')
  const told = { name: 'report', limit: 3, maxHoldMs: 10_000 }
  expect(backend.asked).toMatchObject([told, told])
})

test('two caps with one name and different limits cannot share a backend', () => {
  const backend = backendOf()
  const first = createInflightLimiter({ limit: 3, backend })
  expect(() => createInflightLimiter({ limit: 4, backend })).toThrow(
    expect.objectContaining({ code: 'SLUICE_DUPLICATE_POLICY' }),
  )
  first.close()
  expect(() => createInflightLimiter({ limit: 4, backend })).not.toThrow()
})

test('a cap uses the limit of its backend, if the backend has one', () => {
  const attempt = () => createInflightLimiter({ limit: 4, backend: backendOf(3) })
  expect(attempt).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_LIMIT' }))
})

test.each<[string, object]>([
  ['status', { status: 200 }],
  ['mode', { mode: 'on' }],
  ['weight', { weight: 0 }],
  ['holdUntil', { holdUntil: 'end' }],
  ['headers', { headers: 'some' }],
])('a cap rejected for its %s does not reserve its name', (_, bad) => {
  const backend = backendOf()
  expect(() => new InflightGate({ limit: 3, backend, ...bad })).toThrow(/SLUICE_/)
  expect(() => new InflightGate({ limit: 4, backend })).not.toThrow()
})

test('parts of an application may use the same cap name, each with a separate count', () => {
  const backend = backendOf()
  const layer = LimitLayer.root().extend({ inflightLimit: { limit: 9, backend } }, 'app')
  const parts = ['a', 'b'].map((place, index) => layer.extend({ inflightLimit: { limit: index + 1 } }, place))
  const guards = [layer, ...parts].map(
    ({ caps }) => (caps[0] as unknown as { gate: InflightGate<unknown, unknown> }).gate,
  )
  for (const { limiter } of guards) limiter.acquire()
  expect(backend.asked.map((cap) => [cap?.place, cap?.limit])).toEqual([
    ['app', 9],
    ['a', 1],
    ['b', 2],
  ])
})
