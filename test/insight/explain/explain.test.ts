import { describe, expect, test } from '@jest/globals'
import { createInsight, type Insight, type InsightOptions } from '@sluice/insight'
import {
  createLimiter,
  limitOverrides,
  memoryBackend,
  type PolicyInput,
  type SyncLimiterOptions,
} from '@sluice/limiter-core'
import { FakeClock, failingBackend } from '@sluice/testkit'
import { endedAfterEach } from '../../services/for-tests.ts'
import { Hub } from '../../sketches/fleet/hub.ts'
import { requestOf } from '../live/observed.ts'

const open = endedAfterEach<Insight>((insight) => insight.close())

function watched(policies: readonly PolicyInput[], options: InsightOptions = {}, more: object = {}) {
  const clock = new FakeClock({ wallMs: 1_700_000_000_000 })
  const insight = createInsight({ clock, ...options })
  open.push(insight)
  const limiter = createLimiter({ policies, clock, observers: [insight], ...more } as SyncLimiterOptions)
  return { clock, insight, limiter }
}

const TOKENS = { name: 'tokens', limit: 100_000, window: '1m', algorithm: 'fixed-window', unit: 'tokens' } as const
const API = { name: 'api', limit: 10, window: '1h', algorithm: 'fixed-window' } as const

describe('the explanation of a key in words', () => {
  test('contains used and requested units, and when the request fits', async () => {
    const { clock, insight, limiter } = watched([TOKENS, API])
    limiter.take('key', { tokens: 98_000, api: 1 })
    clock.advance(48_000)
    const { summary, policies } = await insight.explain('key', { cost: 5_000 })
    expect(summary).toEqual([
      "denied by 'tokens': 98,000 of 100,000 tokens used, 5,000 requested, retry in 12 s, counted in this process only",
      "denied by 'api': 1 of 10 requests used, 5,000 requested, can never be allowed, counted in this process only",
    ])
    expect(policies[0]).toMatchObject({
      used: 98_000,
      remaining: 2_000,
      singleUnit: { allowed: true, retryAfterMs: 0 },
      requested: { allowed: false, retryAfterMs: 12_000 },
      resetAfterMs: 12_000,
    })
    expect(policies[1].requested).toEqual({ allowed: false, retryAfterMs: null })
  })

  test('contains the next time for a key that must wait', async () => {
    const { insight, limiter } = watched([API])
    limiter.take('key', 4)
    expect((await insight.explain('key')).summary).toEqual([
      'the next request would be allowed',
      "allowed by 'api': 4 of 10 requests used, full reset in 1 h, counted in this process only",
    ])
    expect((await insight.explain('new')).policies[0]).toMatchObject({ used: 0, remaining: 10 })
  })

  test('covers policies in shadow, but not policies that are off', async () => {
    const { insight, limiter } = watched([{ ...API, mode: 'shadow' }, TOKENS])
    limiter.take('key', 10)
    await insight.control({ action: 'mode', policy: 'tokens', mode: 'off', by: 'ops' })
    const { summary, policies, controls } = await insight.explain('key')
    expect(summary[0]).toBe('the next request would be allowed')
    expect(summary[1]).toMatch(
      /^would be denied by 'api' \(shadow mode\): 10 of 10 requests used, 1 requested, retry in 1 h/,
    )
    expect(summary[2]).toMatch(/^not counted by 'tokens' \(switched off\): 10 of 100,000 tokens used/)
    expect(policies.map(({ mode }) => mode)).toEqual(['shadow', 'off'])
    expect(controls).toMatchObject([{ action: 'mode', policy: 'tokens' }])
  })

  test('contains who blocked the key, and for how long', async () => {
    const { clock, insight } = watched([API])
    await insight.control({ action: 'block', key: 'villain', by: 'ops', reason: 'scraping', duration: '10m' })
    clock.advance(60_000)
    const { summary, controls } = await insight.explain('villain')
    expect(summary[0]).toBe('blocked for another 9 min, by ops (scraping)')
    expect(controls).toHaveLength(1)
    expect((await insight.explain('somebody')).controls).toEqual([])
  })

  test('contains exemptions and key-specific limits', async () => {
    const { insight, limiter } = watched([
      { ...API, overrides: limitOverrides({ limits: { big: 50 }, others: 'exempt' }) },
    ])
    limiter.take('big', 20)
    const { policies } = await insight.explain('big')
    expect(policies[0]).toMatchObject({ limit: 50, used: 20, isOverride: true, isExempt: false })
    expect(policies[0].text).toContain('20 of 50 requests used (key-specific limit)')
    expect((await insight.explain('small')).policies[0]).toMatchObject({ isExempt: true, used: 0 })
    expect((await insight.explain('small')).summary[1]).toMatch(/^exempt from 'api'/)
  })

  test('covers a backend that does not answer', async () => {
    const backend = failingBackend(() => {
      throw new Error('down')
    })
    const { insight, limiter } = watched([API], {}, { backend })
    await limiter.take('key', 3)
    const { policies } = await insight.explain('key')
    expect(policies[0]).toMatchObject({ isCounted: false, source: 'local', used: 3 })
    expect(policies[0].text).toMatch(/'.*' is not responding \(answered by 'local'\)/)
  })

  test('reports that no policies are observed', async () => {
    const { insight, limiter } = watched([API])
    limiter.close()
    expect((await insight.explain('key')).summary).toEqual(['no policies are observed in this process'])
  })
})

test('explanations count nothing', async () => {
  const { insight, limiter } = watched([API])
  for (let n = 0; n < 50; n++) await insight.explain('key', { cost: 3 })
  expect(limiter.peek('key').binding.remaining).toBe(10)
  expect(insight.snapshot().policies).toEqual([])
})

test('a limit set by an operator is the one that is explained', async () => {
  const { insight, limiter } = watched([API], { control: { limits: { api: { min: 1, max: 20 } } } })
  limiter.take('key', 10)
  await insight.control({ action: 'limit', policy: 'api', limit: 20 })
  expect((await insight.explain('key')).policies[0]).toMatchObject({ limit: 20, used: 10, remaining: 10 })
})

test('limiters that share their counts are explained once', async () => {
  const clock = new FakeClock()
  const backend = memoryBackend({ clock })
  const { insight } = watched([API], {}, { backend, shared: true })
  createLimiter({ policies: [API], clock, backend, shared: true, observers: [insight] })
  createLimiter({ policies: [API], clock, backend, scope: 'apart', observers: [insight] })
  expect((await insight.explain('key')).policies).toHaveLength(2)
})

describe('recent denials', () => {
  test('are grouped by policy and route, latest first', async () => {
    const { clock, insight, limiter } = watched([{ ...API, limit: 1 }])
    const ask = (route: string) => limiter.take('key', 1, { request: requestOf(route).request })
    ask('/a')
    for (let n = 0; n < 3; n++) ask('/a')
    clock.advance(5_000)
    ask('/b')
    const at = clock.wall()
    expect((await insight.explain('key')).denials).toEqual([
      { at, policy: 'api', route: '/b', method: 'GET', isShadow: false, times: 1 },
      { at: at - 5_000, policy: 'api', route: '/a', method: 'GET', isShadow: false, times: 3 },
    ])
    expect((await insight.explain('other')).denials).toEqual([])
  })

  test('are kept for 1,000 keys, and a key that is denied many times does not displace others', async () => {
    const { insight, limiter } = watched([{ ...API, limit: 1 }])
    limiter.take('quiet', 2)
    for (let n = 0; n < 10_000; n++) limiter.take('loud', 2)
    expect((await insight.explain('quiet')).denials).toMatchObject([{ times: 1 }])
    for (let n = 0; n < 1_000; n++) limiter.take(`botnet ${n}`, 2)
    expect((await insight.explain('quiet')).denials).toEqual([])
    expect((await insight.explain('botnet 0')).denials).toHaveLength(1)
  })

  test('of other processes arrive over the channel, by the ID of the key', async () => {
    const hub = new Hub()
    const clock = new FakeClock()
    const secret = 'a secret of all processes'
    const [here, there] = [1, 2].map(() => {
      const insight = createInsight({ clock, secret, channel: hub.join() })
      open.push(insight)
      return {
        insight,
        limiter: createLimiter({
          policies: [{ ...API, limit: 1 }],
          clock,
          observers: [insight],
          backend: memoryBackend({ clock }),
        }),
      }
    })
    there.limiter.take('203.0.113.7', 2)
    clock.advance(2_000)
    const { denials, isWholeFleet, key } = await here.insight.explain('203.0.113.7')
    expect({ denials, isWholeFleet, key }).toMatchObject({
      denials: [{ policy: 'api', times: 1 }],
      isWholeFleet: true,
      key: '203.0.113.x',
    })
    expect((await here.insight.explain('203.0.113.8')).denials).toEqual([])
  })
})

test('a process that has seen a key can resolve its ID from a snapshot', async () => {
  const { clock, insight, limiter } = watched([API])
  limiter.take('customer@example.com')
  clock.advance(1_000)
  const [{ topAllowed, nearest }] = insight.snapshot().policies
  expect(topAllowed[0].key).toBe('cust…')
  expect(insight.keyOf(topAllowed[0].id)).toBe('customer@example.com')
  expect(nearest?.id).toBe(topAllowed[0].id)
  expect(insight.keyOf('nobody')).toBeUndefined()
})

test.each([
  ['', 1],
  ['k'.repeat(5_000), 1],
  [7, 1],
  ['key', 0],
  ['key', 1.5],
  ['key', Number.NaN],
])('explain(%p, %p) is rejected', async (key, cost) => {
  const { insight } = watched([API])
  await expect(insight.explain(key as string, { cost })).rejects.toMatchObject({ code: 'SLUICE_BAD_OPTION' })
})
