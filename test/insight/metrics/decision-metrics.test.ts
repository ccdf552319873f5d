import { expect, test } from '@jest/globals'
import { type LeaseLedger, LeasingBackend, MemoryLedger } from '@sluice/fleet/leases'
import { prometheusText } from '@sluice/fleet/metrics'
import { createInsight } from '@sluice/insight'
import { createInflightLimiter, createLimiter, type Decision, memoryBackend } from '@sluice/limiter-core'
import { RequestDecision } from '@sluice/limiter-core/backend'
import { FakeClock, failingBackend } from '@sluice/testkit'
import { seriesValue } from './exposed-series.ts'

const clock = new FakeClock({ nowMs: 1_000 })
const on = (route: string) => ({ route, method: 'GET', request: undefined })

test('decisions are counted by policy, outcome and route, and shadow policies separately', async () => {
  const insight = createInsight()
  const policies = [
    { name: 'api', limit: 2, window: '1h' },
    { name: 'tried', limit: 1, window: '1h', mode: 'shadow' },
  ] as const
  const limiter = createLimiter({ policies, clock, observers: [insight] })
  for (let take = 0; take < 3; take++) limiter.take('acme')
  const text = prometheusText(insight)
  const count = (policy: string, outcome: string) => seriesValue(text, 'sluice_decisions_total', { policy, outcome })
  expect([count('api', 'allowed'), count('api', 'denied')]).toEqual([2, 1])
  expect(count('tried', 'shadow-denied')).toBeGreaterThan(0)
  expect(count('tried', 'denied')).toBe(0)
  limiter.close()
})

test('decisions of one policy and of several are counted the same, by the route of the request', () => {
  const insight = createInsight()
  const limiter = createLimiter({ policies: [{ name: 'api', limit: 9, window: '1h' }], clock })
  insight.decided('acme', limiter.take('acme'), on('/orders/:id'))
  insight.decided('acme', new RequestDecision(limiter.take('acme')), on('/orders/:id'))
  insight.decided('acme', limiter.take('acme'))
  const text = prometheusText(insight)
  expect(text).toContain('sluice_decisions_total{outcome="allowed",policy="api",route="/orders/:id"} 2')
  expect(text).toContain('sluice_decisions_total{outcome="allowed",policy="api",route=""} 1')
  expect(text).toContain('sluice_decisions_total{outcome="denied",policy="api",route="/orders/:id"} 0')
  limiter.close()
})

test('a key is near its limit from 80 % on, and for a bucket 80 % of its burst', () => {
  const insight = createInsight()
  const policies = [{ name: 'api', limit: 10, window: '1h', algorithm: 'fixed-window' }] as const
  const limiter = createLimiter({ policies, clock, observers: [insight] })
  const near = () => seriesValue(prometheusText(insight), 'sluice_near_limit_decisions_total', { policy: 'api' })
  limiter.take('acme', 7)
  expect(near()).toBe(0)
  limiter.take('acme')
  expect(near()).toBe(1)
  limiter.take('acme', 9)
  expect(near()).toBe(2)
  limiter.close()
  const bucket = { name: 'bucket', limit: 100, window: '1h', algorithm: 'token-bucket', burst: 10 } as const
  const burst = createLimiter({ policies: [bucket], clock, observers: [insight] })
  burst.take('acme', 8)
  expect(seriesValue(prometheusText(insight), 'sluice_near_limit_decisions_total', { policy: 'bucket' })).toBe(1)
  burst.close()
})

test.each(['local', 'allow', 'deny'] as const)(
  'decisions of the rule %s are counted as uncounted, by this rule',
  async (rule) => {
    const insight = createInsight()
    const backend = failingBackend(() => Promise.reject(new Error('gone')))
    const policies = [{ name: 'api', limit: 5, window: '1h' }] as const
    const limiter = createLimiter({ policies, backend, onBackendError: rule, observers: [insight] })
    await limiter.take('acme')
    const text = prometheusText(insight)
    expect(seriesValue(text, 'sluice_uncounted_decisions_total', { policy: 'api', rule })).toBe(1)
    expect(seriesValue(text, 'sluice_near_limit_decisions_total')).toBe(0)
    expect(seriesValue(text, 'sluice_backend_failures_total', { backend: 'dead', cause: 'ERROR' })).toBe(1)
    limiter.close()
  },
)

test('verdicts of several backends in one decision are counted or uncounted separately', () => {
  const insight = createInsight()
  const limiter = createLimiter({ policies: [{ name: 'api', limit: 9, window: '1h' }], clock })
  const { verdicts, takenAt } = limiter.take('acme')
  const both = [
    verdicts[0],
    { ...verdicts[0], policy: { ...verdicts[0].policy, name: 'far' }, allowed: true, shadow: false },
  ]
  const answer = { verdicts: both, takenAt, counted: false, countedEach: [true, false], source: 'memory+local' }
  insight.decided('acme', new RequestDecision(answer as ConstructorParameters<typeof RequestDecision>[0]))
  const text = prometheusText(insight)
  expect(seriesValue(text, 'sluice_uncounted_decisions_total', { policy: 'far', rule: 'local' })).toBe(1)
  expect(seriesValue(text, 'sluice_uncounted_decisions_total', { policy: 'api' })).toBe(0)
  limiter.close()
})

test('held, denied and released permits are counted by cap', () => {
  const insight = createInsight()
  const inflight = createInflightLimiter({ name: 'report', limit: 2, clock, observers: [insight] })
  const [first, second] = [inflight.acquire(), inflight.acquire()]
  expect(inflight.acquire()).toBeUndefined()
  clock.advance(40)
  first?.release()
  const text = prometheusText(insight)
  expect(seriesValue(text, 'sluice_inflight_held', { cap: 'report' })).toBe(1)
  expect(seriesValue(text, 'sluice_inflight_limit', { cap: 'report' })).toBe(2)
  expect(seriesValue(text, 'sluice_inflight_permits_total', { cap: 'report' })).toBe(2)
  expect(seriesValue(text, 'sluice_inflight_denied_total', { cap: 'report' })).toBe(1)
  expect(seriesValue(text, 'sluice_inflight_hold_ms_bucket', { cap: 'report', le: '25' })).toBe(0)
  expect(seriesValue(text, 'sluice_inflight_hold_ms_bucket', { cap: 'report', le: '50' })).toBe(1)
  second?.release()
})

test('events of a backend that two limiters share are counted once', () => {
  const insight = createInsight()
  const backend = memoryBackend({ maxBytes: 64 * 1024, clock })
  const limiters = ['one', 'two'].map((name) => {
    return createLimiter({ policies: [{ name, limit: 1, window: '1h' }], backend, clock, observers: [insight] })
  })
  let evicted = 0
  const stop = backend.observe?.({
    event: (name, { keys }) => {
      if (name === 'evicted') evicted = Number(keys)
    },
  })
  for (let round = 0; round < 3; round++) {
    for (let key = 0; key < 5_000; key++) limiters[0].take(`${round}-${key}`)
    clock.advance(1_001)
  }
  const text = prometheusText(insight)
  expect(evicted).toBeGreaterThan(1_000)
  expect(seriesValue(text, 'sluice_evictions_total')).toBe(evicted)
  expect(seriesValue(text, 'sluice_tail_keys_total')).toBeGreaterThan(0)
  for (const limiter of limiters) limiter.close()
  stop?.()
})

test('events with invalid data do not make it throw, since it would be detached', () => {
  const insight = createInsight()
  const odd = [undefined, null, Number.NaN, -1, Number.POSITIVE_INFINITY, {}, Symbol('odd'), 'x'.repeat(9_999)]
  const names = [
    'evicted',
    'tail',
    'keyFallback',
    'lateCharge',
    'hookFailed',
    'backendFailed',
    'breaker',
    'sync',
    'slowed',
    'shed',
    'saturated',
    'quota',
  ] as const
  const fields = [
    'added',
    'policy',
    'units',
    'reason',
    'hook',
    'backend',
    'cause',
    'state',
    'topic',
    'failed',
    'delayMs',
    'outcome',
    'lost',
    'cap',
  ]
  for (const value of odd) {
    for (const name of names) insight.event(name, Object.fromEntries(fields.map((field) => [field, value])))
    insight.permitReleased('acme', value as number, { name: 'cap', limit: 1 })
    insight.backendAnswered(value as string, value as number)
  }
  expect(() => prometheusText(insight)).not.toThrow()
  expect(prometheusText(insight)).not.toMatch(/x{201}/)
})

test('a decision without verdicts, for an exempt key, is not counted', () => {
  const insight = createInsight()
  const exempt = { allowed: true, verdicts: [], takenAt: 0, counted: true, source: 'memory', retryAfterMs: 0 }
  insight.decided('acme', exempt as unknown as Decision)
  expect(seriesValue(prometheusText(insight), 'sluice_decisions_total')).toBe(0)
})

test('waiting for a lease is counted as waiting for the backend, and spending a lease is not', async () => {
  const insight = createInsight()
  const terms = { fraction: 0.1, leaseMs: 2_000 }
  const ledger = new MemoryLedger('ledger', memoryBackend({ clock }), terms, () => clock.now())
  const ask: LeaseLedger['request'] = async (asks) => ledger.request(asks)
  const backend = new LeasingBackend({ name: 'leased', exact: ledger, ledger: { request: ask }, terms, clock })
  const policies = [{ name: 'leased', limit: 1_000, window: '1m', algorithm: 'fixed-window' }] as const
  const limiter = createLimiter({ policies, backend, clock, observers: [insight] })
  const waits = () => seriesValue(prometheusText(insight), 'sluice_backend_answer_ms_count', { backend: 'leased' })
  await limiter.take('acme')
  expect(waits()).toBe(1)
  for (let take = 0; take < 5; take++) await limiter.take('acme')
  expect(waits()).toBe(1)
  limiter.close()
})
