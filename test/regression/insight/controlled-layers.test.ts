import { expect, test } from '@jest/globals'
import type { RateLimitOptions } from '@sluice/http'
import { RateGate } from '@sluice/http'
import type { Decision } from '@sluice/limiter-core'
import { headerLines } from '@sluice/limiter-core/http'
import { FakeClock } from '@sluice/testkit'
import { viewOf } from '../../keys/request-view.ts'
import { Operator } from '../../limiter/controls/controlled.ts'

type Options = RateLimitOptions<object, unknown>

const MINUTE = { window: '1m', algorithm: 'fixed-window' } as const

function layers() {
  const operator = new Operator()
  const shared = {
    clock: new FakeClock(),
    observers: [operator],
    headers: ['draft', 'legacy'],
    key: () => 'key',
  } as const
  const app = new RateGate<object, unknown>({ ...shared, ...MINUTE, name: 'api', limit: 9 } as Options)
  const part = app.nested({
    options: { ...MINUTE, name: 'part', limit: 5, headers: ['draft', 'legacy'], status: 420 } as Options,
    routeScope: 'part',
  })
  const ask = (gate = part) => {
    const check = gate.check(viewOf<object>({ raw: {} })) as
      | { decision: Decision; entries: Parameters<typeof headerLines>[0]; denial: { status: number } | undefined }
      | undefined
    if (!check) return undefined
    const lines = Object.fromEntries(headerLines(check.entries, () => 0))
    return { allowed: check.decision.allowed, status: check.denial?.status, ...lines }
  }
  return { operator, app, part, ask }
}

test('of two layers the remaining one sets all headers', () => {
  const { operator, ask } = layers()
  operator.setControls({ part: { mode: 'off' } })
  expect(ask()).toMatchObject({
    allowed: true,
    'RateLimit-Policy': '"api";q=9;w=60',
    RateLimit: '"api";r=8;t=60',
    'X-RateLimit-Limit': '9',
  })
  operator.setControls({ api: { mode: 'shadow' } })
  expect(ask()).toMatchObject({
    'RateLimit-Policy': '"part";q=5;w=60',
    RateLimit: '"part";r=4;t=60',
    'X-RateLimit-Limit': '5',
  })
  operator.setControls({ api: { mode: 'off' }, part: { mode: 'off' } })
  expect(ask()).toBeUndefined()
  operator.release()
  expect(ask()).toMatchObject({ RateLimit: '"api";r=6;t=60, "part";r=3;t=60' })
})

test('a block by the policy of one layer is answered by that layer', () => {
  const { operator, ask } = layers()
  for (const [name, status] of [
    ['api', 429],
    ['part', 420],
  ] as const) {
    for (const limiter of operator.limiters) {
      limiter.control({ policies: new Map(), blockedMs: (_key, policy) => (policy === name ? 2_000 : 0) })
    }
    expect(ask()).toMatchObject({
      allowed: false,
      status,
      RateLimit: `"${name}";r=0;t=2`,
      'X-RateLimit-Remaining': '0',
    })
  }
})

test('a policy that two layers share is changed in both, and a closed one leaves the other changed', () => {
  const { operator, app, part, ask } = layers()
  operator.setControls({ api: { limit: 3 } })
  expect(ask(app)).toMatchObject({ 'RateLimit-Policy': '"api";q=3;w=60', RateLimit: '"api";r=2;t=60' })
  expect(ask()).toMatchObject({ 'RateLimit-Policy': '"api";q=3;w=60, "part";q=5;w=60' })
  part.close()
  expect(ask(app)).toMatchObject({ RateLimit: '"api";r=0;t=60' })
  expect(ask(app)).toMatchObject({ allowed: false })
})
