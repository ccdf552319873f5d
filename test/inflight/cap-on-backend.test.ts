import { expect, test } from '@jest/globals'
import { type Cap, createInflightLimiter, type InflightBackend } from '@sluice/limiter-core'
import { InflightGate } from '@sluice/limiter-core/http'
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

test('a backend is told which cap asks, and which one wants to know', () => {
  const backend = backendOf()
  const cap = createInflightLimiter({ name: 'report', limit: 3, maxHoldMs: '10s', backend })
  cap.acquire('k', { weight: 2 })
  cap.count('k')
  const told = { name: 'report', limit: 3, maxHoldMs: 10_000 }
  expect(backend.asked).toMatchObject([told, told])
})

test('two caps of one name and another limit meet on no backend', () => {
  const backend = backendOf()
  const first = createInflightLimiter({ limit: 3, backend })
  expect(() => createInflightLimiter({ limit: 4, backend })).toThrow(
    expect.objectContaining({ code: 'SLUICE_DUPLICATE_POLICY' }),
  )
  first.close()
  expect(() => createInflightLimiter({ limit: 4, backend })).not.toThrow()
})

test('a cap has the limit of its backend, where that has one', () => {
  const attempt = () => createInflightLimiter({ limit: 4, backend: backendOf(3) })
  expect(attempt).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_LIMIT' }))
})

test.each<[string, object]>([
  ['status', { status: 200 }],
  ['mode', { mode: 'on' }],
  ['weight', { weight: 0 }],
  ['holdUntil', { holdUntil: 'end' }],
  ['headers', { headers: 'some' }],
])('a cap that is refused for its %s leaves no name behind', (_, bad) => {
  const backend = backendOf()
  expect(() => new InflightGate({ limit: 3, backend, ...bad })).toThrow(/SLUICE_/)
  expect(() => new InflightGate({ limit: 4, backend })).not.toThrow()
})

test('parts of an application have caps of one name, each with a count of its own', () => {
  const backend = backendOf()
  const layer = LimitLayer.none().below({ inflightLimit: { limit: 9, backend } }, 'app')
  const parts = ['a', 'b'].map((place, index) => layer.below({ inflightLimit: { limit: index + 1 } }, place))
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
