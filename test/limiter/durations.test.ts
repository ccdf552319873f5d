import { expect, test } from '@jest/globals'
import { parseDuration } from '@sluice/limiter-core/backend'

test.each([
  ['1ms', 1],
  ['500ms', 500],
  ['10s', 10_000],
  ['1.5s', 1_500],
  ['0.1s', 100],
  ['1m', 60_000],
  ['1h', 3_600_000],
  ['1d', 86_400_000],
  ['1w', 604_800_000],
  ['3650d', 315_360_000_000],
  ['4.35s', 4_350],
  [1_000, 1_000],
  [315_360_000_000, 315_360_000_000],
])('%s is %i ms', (duration, ms) => {
  expect(parseDuration(duration, 'window')).toBe(ms)
})

test.each([
  0,
  60,
  999,
  -1_000,
  1_000.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  2 ** 53,
  '',
  '60',
  '0s',
  '0.4ms',
  '1.0001s',
  '-1s',
  '+1s',
  ' 1s',
  '1s ',
  '1 s',
  '1S',
  '1y',
  '1e3s',
  '.5s',
  '1s\n',
  '9007199254740993ms',
  '99999999999999999999d',
  null,
  undefined,
  true,
  {},
  [1_000],
])('%p is rejected with the expected and the received value', (duration) => {
  expect(() => parseDuration(duration, 'window')).toThrow(
    expect.objectContaining({ code: 'SLUICE_BAD_DURATION', message: expect.stringContaining("'10s'") }),
  )
})
