import { expect, test } from '@jest/globals'
import { memoryBackend, slowDown } from '@sluice/node-http'

const GOOD = { after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' } as const

function codeOf(options: object): string {
  try {
    slowDown({ ...GOOD, ...options } as never)
    return 'none'
  } catch (error) {
    const { code, message } = error as { code: string; message: string }
    expect(message).toMatch(/expected .+, received .+/s)
    return code
  }
}

const throwing = (): number => {
  throw new Error('no table')
}

test.each<[string, object, string]>([
  ['after of -1', { after: -1 }, 'SLUICE_BAD_LIMIT'],
  ['after of NaN', { after: Number.NaN }, 'SLUICE_BAD_LIMIT'],
  ['after of 1.5', { after: 1.5 }, 'SLUICE_BAD_LIMIT'],
  ['after as a string', { after: '50' }, 'SLUICE_BAD_LIMIT'],
  ['no after', { after: undefined }, 'SLUICE_BAD_LIMIT'],
  ['after above the largest limit', { after: 999_999_999_999_999 }, 'SLUICE_BAD_LIMIT'],
  ['60 for a window of 60 s', { window: 60 }, 'SLUICE_BAD_DURATION'],
  ['no window', { window: undefined }, 'SLUICE_BAD_DURATION'],
  ['delayMs of 0', { delayMs: 0 }, 'SLUICE_BAD_OPTION'],
  ['delayMs below 1 ms', { delayMs: 0.5 }, 'SLUICE_BAD_OPTION'],
  ['delayMs below 0', { delayMs: -5 }, 'SLUICE_BAD_DURATION'],
  ['delayMs of NaN', { delayMs: Number.NaN }, 'SLUICE_BAD_DURATION'],
  ['delayMs as a string', { delayMs: 'a while' }, 'SLUICE_BAD_DURATION'],
  ['no delayMs', { delayMs: undefined }, 'SLUICE_BAD_DURATION'],
  ['delayMs that returns undefined', { delayMs: () => undefined }, 'SLUICE_BAD_OPTION'],
  ['delayMs that returns a negative number', { delayMs: () => -1 }, 'SLUICE_BAD_OPTION'],
  ['delayMs that returns NaN', { delayMs: () => Number.NaN }, 'SLUICE_BAD_OPTION'],
  ['delayMs that returns a promise', { delayMs: async () => 5 }, 'SLUICE_BAD_OPTION'],
  ['delayMs that throws', { delayMs: throwing }, 'SLUICE_BAD_OPTION'],
  ['delayMs that never delays', { delayMs: () => 0 }, 'SLUICE_BAD_OPTION'],
  ['delayMs that ends with no delay', { delayMs: (over: number) => (over < 9 ? over : 0) }, 'SLUICE_BAD_OPTION'],
  ["maxDelayMs of '0'", { maxDelayMs: '0' }, 'SLUICE_BAD_DURATION'],
  ['maxDelayMs of 0', { maxDelayMs: 0 }, 'SLUICE_BAD_OPTION'],
  ['an infinite maxDelayMs', { maxDelayMs: Number.POSITIVE_INFINITY }, 'SLUICE_BAD_DURATION'],
  ['no maxDelayMs', { maxDelayMs: undefined }, 'SLUICE_BAD_DURATION'],
  ['maxWaiting of 0', { maxWaiting: 0 }, 'SLUICE_BAD_LIMIT'],
  ['an infinite maxWaiting', { maxWaiting: Number.POSITIVE_INFINITY }, 'SLUICE_BAD_LIMIT'],
  ['an unknown name', { delayAfter: 5 }, 'SLUICE_BAD_OPTION'],
  ['limit, an option of rateLimit', { limit: 5 }, 'SLUICE_BAD_OPTION'],
  ['headers, which a slow-down does not have', { headers: 'draft' }, 'SLUICE_BAD_OPTION'],
  ['plans', { plans: {} }, 'SLUICE_BAD_OPTION'],
  ['an unknown algorithm', { algorithm: 'leaky' }, 'SLUICE_BAD_POLICY'],
  ['a name that would inject a header', { name: 'a\r\nb' }, 'SLUICE_BAD_NAME'],
  ['an unknown mode', { mode: 'on' }, 'SLUICE_BAD_OPTION'],
  ['a status of 200', { status: 200 }, 'SLUICE_BAD_OPTION'],
  ['skip that is not a function', { skip: true }, 'SLUICE_BAD_OPTION'],
  ['denied that is not a function', { denied: 'no' }, 'SLUICE_BAD_OPTION'],
  ['a key that is not a function', { key: 'ip' }, 'SLUICE_BAD_OPTION'],
  ['a cost below 0', { cost: -1 }, 'SLUICE_BAD_COST'],
  ['an invalid clock', { clock: {} }, 'SLUICE_BAD_OPTION'],
  ['an invalid backend', { backend: {} }, 'SLUICE_BAD_OPTION'],
  ['observers that are not an array', { observers: {} }, 'SLUICE_BAD_OPTION'],
])('%s is rejected at start-up', (_what, options, code) => {
  expect(codeOf(options)).toBe(code)
})

test('missing options are rejected at start-up', () => {
  expect(() => (slowDown as (options?: unknown) => unknown)()).toThrow(
    /SLUICE_BAD_OPTION: slowDown: expected an object of options, received undefined/,
  )
})

test('a rejected slow-down reserves no name on a backend', () => {
  const backend = memoryBackend()
  expect(codeOf({ backend, observers: {} })).toBe('SLUICE_BAD_OPTION')
  expect(codeOf({ backend, delayMs: 7 })).toBe('none')
})

test('two slow-downs with different options on one backend need different names until one is closed', () => {
  const backend = memoryBackend()
  const first = slowDown({ ...GOOD, backend })
  expect(codeOf({ backend, delayMs: 7 })).toBe('SLUICE_DUPLICATE_POLICY')
  expect(codeOf({ backend, delayMs: 7, name: 'other' })).toBe('none')
  first.close()
  first.close()
  expect(codeOf({ backend, delayMs: 7 })).toBe('none')
})
