import { describe, expect, test } from '@jest/globals'
import { capEntry, compileHeaders, httpDenial, violatedPolicies } from '@sluice/http'
import { ChargeVerdict, compilePolicy, type PolicyVerdict } from '@sluice/limiter-core/backend'
import { decisionOf, entryOf, linesOf, WALL_MS } from './header-fields.ts'

const wide = compilePolicy({ name: 'wide', limit: 100, window: '1h' })
const narrow = compilePolicy({ name: 'narrow', limit: 10, window: '1m' })
const passes = (policy = wide, remaining = 99, shadow = false): PolicyVerdict =>
  new ChargeVerdict(policy, shadow, remaining, 0, 60_000)
const denies = (policy = narrow, waitMs = 5_000, shadow = false): PolicyVerdict =>
  new ChargeVerdict(policy, shadow, 0, waitMs, 60_000)
const POLICIES = '"wide";q=100;w=3600, "narrow";q=10;w=60'

describe('the header lines of a response', () => {
  test('are absent if no limiter took part', () => {
    expect(linesOf([])).toEqual({})
  })

  test('list every policy of every limiter in order', () => {
    expect(linesOf([entryOf(decisionOf(passes())), entryOf(decisionOf(passes(narrow, 9)))])).toEqual({
      'RateLimit-Policy': POLICIES,
      RateLimit: '"wide";r=99;t=60, "narrow";r=9;t=60',
    })
  })

  test('list only denied items once one denies, within one limiter and across several', () => {
    const lines = { 'RateLimit-Policy': POLICIES, RateLimit: '"narrow";r=0;t=5' }
    expect(linesOf([entryOf(decisionOf(passes(), denies()))])).toEqual(lines)
    expect(linesOf([entryOf(decisionOf(passes())), entryOf(decisionOf(denies()))])).toEqual(lines)
    expect(linesOf([entryOf(decisionOf(denies(wide, 9_000), denies()))]).RateLimit).toBe(
      '"wide";r=0;t=9, "narrow";r=0;t=5',
    )
  })

  test('never show a policy in shadow mode', () => {
    const shadowed = entryOf(decisionOf(denies(narrow, 5_000, true), passes()))
    expect(linesOf([shadowed])).toEqual({ 'RateLimit-Policy': '"wide";q=100;w=3600', RateLimit: '"wide";r=99;t=60' })
    const headers = { headers: ['draft', 'legacy'] } as const
    expect(linesOf([entryOf(decisionOf(denies(narrow, 5_000, true)), headers)])).toEqual({})
    expect(linesOf([entryOf(decisionOf(denies(narrow, 5_000, true))), entryOf(decisionOf(passes()))]).RateLimit).toBe(
      '"wide";r=99;t=60',
    )
  })

  test('limited to denials are absent for an admitted request, and present once another limiter denies', () => {
    const quiet = entryOf(decisionOf(passes()), { headersOn: 'denied' })
    expect(linesOf([quiet])).toEqual({})
    expect(linesOf([quiet, entryOf(decisionOf(denies()))])).toEqual({
      'RateLimit-Policy': POLICIES,
      RateLimit: '"narrow";r=0;t=5',
    })
  })

  test('omit a limiter whose headers are disabled', () => {
    const silent = entryOf(decisionOf(denies()), { headers: 'none' })
    expect(linesOf([silent])).toEqual({})
    expect(linesOf([entryOf(decisionOf(passes())), silent])).toEqual({ 'RateLimit-Policy': '"wide";q=100;w=3600' })
  })

  test('list a full cap with its unit and without a time', () => {
    const full = capEntry(compileHeaders({}), 'a"b', 50)
    expect(linesOf([entryOf(decisionOf(passes())), full])).toEqual({
      'RateLimit-Policy': '"wide";q=100;w=3600, "a\\"b";q=50;qu="concurrent-requests"',
      RateLimit: '"a\\"b";r=0',
    })
  })
})

describe('legacy header lines', () => {
  const legacy = (reset?: 'epoch' | 'delta') => ({ headers: 'legacy', ...(reset && { legacy: { reset } }) }) as const
  const linesFor = (verdict: PolicyVerdict, reset?: 'epoch' | 'delta') =>
    Object.values(linesOf([entryOf(decisionOf(verdict), legacy(reset))]))

  test('contain limit, remaining units and reset, as epoch or as a difference, rounded up', () => {
    const verdict = new ChargeVerdict(wide, false, 7, 0, 1_001)
    expect(linesFor(verdict)).toEqual(['100', '7', String(WALL_MS / 1_000 + 2)])
    expect(linesFor(verdict, 'epoch')).toEqual(['100', '7', String(WALL_MS / 1_000 + 2)])
    expect(linesFor(verdict, 'delta')).toEqual(['100', '7', '2'])
  })

  test('contain the time to retry after a denial, or no time if waiting does not help', () => {
    expect(linesFor(denies(), 'delta')).toEqual(['10', '0', '5'])
    expect(linesFor(denies(narrow, Number.POSITIVE_INFINITY), 'delta')).toEqual(['10', '0'])
  })

  test('describe one policy: a denied one, otherwise the one closest to its limit', () => {
    const near = entryOf(decisionOf(passes(narrow, 1)), legacy('delta'))
    const far = entryOf(decisionOf(passes(wide, 50)), legacy('delta'))
    const denied = entryOf(decisionOf(denies()), legacy('delta'))
    expect(linesOf([near, far])['X-RateLimit-Limit']).toBe('10')
    expect(linesOf([far, near])['X-RateLimit-Limit']).toBe('10')
    expect(linesOf([far, denied])['X-RateLimit-Remaining']).toBe('0')
  })

  test('omit limiters that admitted once another one denies', () => {
    const passed = entryOf(decisionOf(passes()), legacy())
    expect(linesOf([passed, entryOf(decisionOf(denies()), { headers: 'none' })])).toEqual({})
    expect(linesOf([passed, capEntry(compileHeaders({ headers: 'none' }), 'cap', 1)])).toEqual({})
  })
})

describe('header lines of draft 6', () => {
  const draft6 = { headers: 'draft-6' } as const

  test('contain limit, remaining units and the seconds until the reset, whatever `legacy` is', () => {
    const verdict = new ChargeVerdict(wide, false, 7, 0, 1_001)
    const lines = { 'RateLimit-Limit': '100', 'RateLimit-Remaining': '7', 'RateLimit-Reset': '2' }
    expect(linesOf([entryOf(decisionOf(verdict), { ...draft6, legacy: { reset: 'epoch' } })])).toEqual(lines)
  })

  test('describe the most restrictive of the limiters that write them', () => {
    const near = entryOf(decisionOf(passes(narrow, 1)), { headers: 'legacy', legacy: { reset: 'delta' } })
    const far = entryOf(decisionOf(passes(wide, 50)), draft6)
    const both = entryOf(decisionOf(passes(narrow, 2)), { headers: ['legacy', 'draft-6'] })
    const limits = (...entries: readonly ReturnType<typeof entryOf>[]) => {
      const lines = linesOf(entries)
      return ['X-RateLimit', 'RateLimit'].map((prefix) => `${lines[`${prefix}-Limit`]} ${lines[`${prefix}-Remaining`]}`)
    }
    expect(limits(near, far)).toEqual(['10 1', '100 50'])
    expect(limits(far, both, near)).toEqual(['10 1', '10 2'])
  })

  test('are absent for policies in shadow mode, and for admitted requests with headersOn', () => {
    const shadowed = decisionOf(denies(narrow, 5_000, true))
    expect(linesOf([entryOf(shadowed, draft6)])).toEqual({})
    expect(linesOf([entryOf(decisionOf(passes()), { ...draft6, headersOn: 'denied' })])).toEqual({})
  })
})

describe('a denial', () => {
  test('equals golden value C for a spent policy', () => {
    expect(httpDenial(429, ['default'], 4_001)).toEqual({
      status: 429,
      retryAfterSeconds: 5,
      retryAfterMs: 4_001,
      violated: ['default'],
      contentType: 'application/problem+json',
      body: expect.stringMatching(/^.{143}$/),
    })
  })

  test('has a Retry-After of at least one second, or none if waiting does not help', () => {
    const seconds = [0, 1, 1_000, 1_001, Number.POSITIVE_INFINITY].map(
      (ms) => httpDenial(429, [], ms).retryAfterSeconds,
    )
    expect(seconds).toEqual([1, 1, 1, 2, undefined])
  })

  test('has the problem type for its status, and the status in the body', () => {
    const shown = [400, 420, 429, 499, 500, 503, 599].map((status) => {
      const { title, status: told } = JSON.parse(httpDenial(status, [], 1).body)
      return `${told} ${title}`
    })
    const quota = [400, 420, 429, 499].map((status) => `${status} Quota Exceeded`)
    expect(shown).toEqual([...quota, ...[500, 503, 599].map((status) => `${status} Temporary Reduced Capacity`)])
  })

  test('lists the enforced policies that denied', () => {
    const decision = decisionOf(passes(), denies(), denies(wide, 1, true))
    expect(violatedPolicies(decision)).toEqual(['narrow'])
  })
})
