import { describe, expect, test } from '@jest/globals'
import { compilePartitionKey } from '@sluice/http'
import { ChargeVerdict, compilePolicy } from '@sluice/limiter-core/backend'
import { policyItems, problemBody } from '@sluice/limiter-core/http'
import { baseSeed, parseList } from '@sluice/testkit'
import { assert, integer, property, string } from 'fast-check'
import { decisionOf, entryOf, linesOf } from './header-fields.ts'

const MOST = 999_999_999_999_999
const printable = string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 128 })
const runs = { seed: baseSeed(), numRuns: 300 }

describe('RateLimit-Policy', () => {
  test('has quota and window, and the unit if it is not requests', () => {
    const policies = [
      compilePolicy({ name: 'burst', limit: 100, window: '1m' }),
      compilePolicy({ name: 'tokens', limit: 5, window: '1d', unit: 'tokens' }),
      compilePolicy({ name: 'said', limit: 1, window: '1s', unit: 'requests' }),
    ]
    expect(policyItems(policies)).toBe('"burst";q=100;w=60, "tokens";q=5;qu="tokens";w=86400, "said";q=1;w=1')
  })

  test('has no window for a calendar policy', () => {
    const calendar = { per: 'month', timeZone: 'UTC' } as const
    const policy = compilePolicy({ name: 'calls', limit: 50_000, window: '31d', unit: 'calls', calendar })
    expect(policyItems([policy], () => ';pk=:YQ==:')).toBe('"calls";q=50000;qu="calls";pk=:YQ==:')
  })

  test('rounds a window up to whole seconds', () => {
    const windows = ['1ms', '999ms', '1s', '1001ms'] as const
    const shown = windows.map((window) => policyItems([compilePolicy({ limit: 1, window })]))
    expect(shown.map((item) => item.split(';w=')[1])).toEqual(['1', '1', '1', '2'])
  })

  test('is a valid list for every name, unit and limit that a policy may have', () => {
    const shown = property(printable, printable, integer({ min: 1, max: MOST }), (name, unit, limit) => {
      const [item] = parseList(policyItems([compilePolicy({ name, limit, window: '1m', unit })]))
      expect(item.name).toBe(name)
      expect(item.params).toEqual({ q: limit, w: 60, ...(unit !== 'requests' && { qu: unit }) })
    })
    assert(shown, runs)
  })
})

describe('RateLimit', () => {
  test('is a valid list for every number that a verdict may have', () => {
    const shown = property(
      printable,
      integer({ min: 0, max: MOST }),
      integer({ min: 0, max: 2 ** 40 }),
      (name, left, ms) => {
        const policy = compilePolicy({ name, limit: MOST, window: '1m' })
        const lines = linesOf([entryOf(decisionOf(new ChargeVerdict(policy, false, left, 0, ms)))])
        expect(parseList(lines.RateLimit)).toEqual([{ name, params: { r: left, t: Math.ceil(ms / 1_000) } }])
      },
    )
    assert(shown, runs)
  })

  test('rounds waits and resets up, so that they are never too short', () => {
    const policy = compilePolicy({ limit: 3, window: '1m' })
    const t = (waitMs: number, resetMs: number) =>
      linesOf([entryOf(decisionOf(new ChargeVerdict(policy, false, 0, waitMs, resetMs)))]).RateLimit.split(';t=')[1]
    expect([t(0, 0), t(0, 1), t(0, 1_000), t(0, 1_000.5)]).toEqual(['0', '1', '1', '2'])
    expect([t(1, 60_000), t(1_000, 60_000), t(1_001, 60_000)]).toEqual(['1', '1', '2'])
    expect(t(Number.POSITIVE_INFINITY, 60_000)).toBeUndefined()
  })
})

describe('a partition key', () => {
  test('equals golden value F: the first nine bytes of an HMAC', () => {
    expect(compilePartitionKey({ secret: 'k' })?.('user:42')).toBe(';pk=:rzlTllzIrmFf:')
  })

  test('is a valid byte sequence for every key, and unique per key', () => {
    const partition = compilePartitionKey({ secret: 'k' }) as (key: string) => string
    const seen = new Set<string>()
    for (const key of ['', '__proto__', '\0', '\r\n', '\ud800', 'ä', 'k'.repeat(1e6), '"', ':', ';']) {
      const [{ params }] = parseList(`"a"${partition(key)}`)
      expect(params.pk).toHaveLength(9)
      seen.add(partition(key))
    }
    expect(seen.size).toBe(10)
  })
})

describe('a problem', () => {
  test.each([
    ['quota-exceeded', 'Quota Exceeded', 429, 'default', 143],
    ['temporary-reduced-capacity', 'Temporary Reduced Capacity', 503, 'inflight', 168],
  ] as const)('%s equals its golden value, byte for byte', (type, title, status, policy, bytes) => {
    const body = problemBody(status, [policy])
    expect(body).toBe(
      `{"type":"https://iana.org/assignments/http-problem-types#${type}","title":"${title}","status":${status},` +
        `"violated-policies":["${policy}"]}`,
    )
    expect(Buffer.byteLength(body)).toBe(bytes)
  })

  test('has as many bytes as characters, whatever the names of its policies', () => {
    const counted = property(printable, (name) => {
      const body = problemBody(429, [name])
      expect(Buffer.byteLength(body)).toBe(body.length)
      expect(JSON.parse(body)['violated-policies']).toEqual([name])
    })
    assert(counted, runs)
  })
})
