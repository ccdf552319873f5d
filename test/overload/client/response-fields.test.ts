import { describe, expect, test } from '@jest/globals'
import { adaptiveThrottle } from '@sluice/overload'
import { eachSeed, FakeClock } from '@sluice/testkit'

const MAX_MS = 60_000
const URL = 'https://api.example.com/'

/** Returns how long no request is sent after a response with these fields, in whole ms. */
async function blockedMs(headers: Record<string, string>, status = 429): Promise<number> {
  const clock = new FakeClock()
  const replies = [new Response(null, { status, headers })]
  const upstream = async (_url: string): Promise<Response> => replies.pop() ?? new Response('ok')
  const fetch = adaptiveThrottle(upstream, { clock, retries: 0, maxRetryAfterMs: MAX_MS })
  await fetch(URL)
  const refused = await fetch(URL).then(
    () => undefined,
    (error: unknown) => error as { code: string; retryAfterMs: number },
  )
  if (!refused) return 0
  expect(refused.code).toBe('SLUICE_THROTTLED')
  clock.advance(refused.retryAfterMs - 1)
  await expect(fetch(URL)).rejects.toMatchObject({ code: 'SLUICE_THROTTLED', retryAfterMs: 1 })
  clock.advance(1)
  expect((await fetch(URL)).status).toBe(200)
  return refused.retryAfterMs
}

const date = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + ms).toUTCString()

describe('Retry-After', () => {
  test.each([
    ['5', 5_000],
    ['0', 0],
    [date(7_000), 7_000],
    [date(-7_000), 0],
    // bounded by maxRetryAfterMs
    ['61', MAX_MS],
    ['9'.repeat(400), MAX_MS],
    ['Fri, 31 Dec 9999 23:59:59 GMT', MAX_MS],
    // malformed
    ['1e99', 0],
    ['-5', 0],
    ['5.5', 0],
    ['5, 5', 0],
    ['', 0],
    ['soon', 0],
    ['2027', MAX_MS],
    ['Fri, 99 Foo 2026 99:99:99 GMT', 0],
    ['2026-01-01T00:00:09Z', 0],
    ['Infinity', 0],
    ['0x10', 0],
  ])('%s', async (field, ms) => {
    expect(await blockedMs({ 'retry-after': field })).toBe(ms)
    expect(await blockedMs({ 'retry-after': field }, 503)).toBe(ms)
  })

  test('of other responses is not about overload', async () => {
    expect(await blockedMs({ 'retry-after': '5' }, 200)).toBe(0)
    expect(await blockedMs({ 'retry-after': '5' }, 301)).toBe(0)
  })
})

describe('RateLimit', () => {
  test.each([
    ['"default";r=0;t=5', 5_000],
    ['"default";t=5;r=0;pk=:cHNsdWljZQ==:', 5_000],
    ['"a";r=3;t=9, "b";r=0;t=2 , "c";r=0;t=4', 4_000],
    ['default;r=0;t=3', 3_000],
    ['"a \\" b";r=0;t=3;note="x, y";flag', 3_000],
    // the parameters that were proposed for the next draft
    ['"default";a=0;w=5', 5_000],
    // draft 7
    ['limit=100, remaining=0, reset=5', 5_000],
    ['limit=100, remaining=1, reset=5', 0],
    ['"default";r=1;t=5', 0],
    ['"default";r=0', 0],
    ['"default";r=0;t=0', 0],
    // bounded by maxRetryAfterMs
    ['"default";r=0;t=999999999999999', MAX_MS],
    // malformed
    ['"default";r=0;t=1e99', 0],
    ['"default";r=0;t=9999999999999999999', 0],
    ['"default";r=0;t=-5', 0],
    ['"default";r=-0;t=5', 0],
    ['"default";r=0;t=5,', 0],
    ['"default";r=0;t=5 garbage', 0],
    ['"default;r=0;t=5', 0],
    [';;;===', 0],
    [`${'"a";r=0,'.repeat(2_000)}`, 0],
    [`"${'\\"'.repeat(8_000)}`, 0],
  ])('%s', async (field, ms) => {
    expect(await blockedMs({ ratelimit: field }, 200)).toBe(ms)
    expect(await blockedMs({ ratelimit: field }, 429)).toBe(ms)
  })

  test('is used only without a valid Retry-After', async () => {
    expect(await blockedMs({ ratelimit: '"a";r=0;t=50', 'retry-after': '5' })).toBe(5_000)
    expect(await blockedMs({ ratelimit: '"a";r=0;t=50', 'retry-after': '1e9' })).toBe(50_000)
  })
})

describe('the fields from before RateLimit', () => {
  const epochS = Date.UTC(2026, 0, 1) / 1_000
  test.each([
    ['0', '5', 5_000],
    ['0', '2.5', 2_500],
    ['00', ' 5 ', 5_000],
    ['0', `${epochS + 7}`, 7_000],
    ['0', `${(epochS + 7) * 1_000}`, 7_000],
    ['0', `${epochS - 7}`, 0],
    ['0', '1m2.5s', MAX_MS],
    ['0', '2.5s', 2_500],
    ['0', '120ms', 120],
    ['0', '2026-01-01T00:00:07Z', 7_000],
    ['0', date(7_000), 7_000],
    ['0', '0', 0],
    // bounded by maxRetryAfterMs
    ['0', '999999999', MAX_MS],
    ['0', '999999999999999', MAX_MS],
    ['1', '5', 0],
    // malformed
    ['-0', '5', 0],
    ['0, 0', '5', 0],
    ['', '5', 0],
    ['0', '', 0],
    ['0', '-5', 0],
    ['0', '1e9', 0],
    ['0', '6m0', 0],
    ['0', '9999999999999999', 0],
  ])('remaining %s and reset %s', async (remaining, reset, ms) => {
    for (const prefix of ['ratelimit', 'X-RateLimit']) {
      const headers = { [`${prefix}-remaining`]: remaining, [`${prefix}-reset`]: reset }
      expect(await blockedMs(headers, 200)).toBe(ms)
      expect(await blockedMs(headers, 429)).toBe(ms)
    }
  })

  test('are used only without Retry-After and RateLimit, and those without X- first', async () => {
    const old = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '50' }
    expect(await blockedMs({ ...old, 'retry-after': '5' })).toBe(5_000)
    expect(await blockedMs({ ...old, ratelimit: '"a";r=0;t=9' })).toBe(9_000)
    expect(await blockedMs({ ...old, ratelimit: '"a";r=4;t=9' })).toBe(0)
    expect(await blockedMs({ ...old, 'ratelimit-remaining': '0', 'ratelimit-reset': '8' })).toBe(8_000)
    expect(await blockedMs({ ...old, 'ratelimit-remaining': '1', 'ratelimit-reset': '8' })).toBe(0)
    expect(await blockedMs({ 'x-ratelimit-remaining': '0' })).toBe(0)
  })
})

test('random fields never throw, and never block for longer than maxRetryAfterMs', async () => {
  const parts = [
    '"a"',
    'a',
    ';',
    'r',
    't',
    '=',
    '0',
    '5',
    '-',
    ',',
    ' ',
    '"',
    '\\',
    ':',
    '?1',
    '.',
    '*',
    '9e9',
    date(1e9),
  ]
  await eachSeed(20, async (random) => {
    for (let round = 0; round < 50; round++) {
      const field = Array.from({ length: random.whole(12) }, () => parts[random.whole(parts.length)]).join('')
      const ms = await blockedMs({ ratelimit: field, 'retry-after': field })
      expect({ field, isBounded: ms >= 0 && ms <= MAX_MS }).toEqual({ field, isBounded: true })
    }
  })
})
