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
  ['after in quotes', { after: '50' }, 'SLUICE_BAD_LIMIT'],
  ['after left out', { after: undefined }, 'SLUICE_BAD_LIMIT'],
  ['after that no policy can count', { after: 999_999_999_999_999 }, 'SLUICE_BAD_LIMIT'],
  ['60 for a window of 60 s', { window: 60 }, 'SLUICE_BAD_DURATION'],
  ['no window', { window: undefined }, 'SLUICE_BAD_DURATION'],
  ['delayMs of 0', { delayMs: 0 }, 'SLUICE_BAD_OPTION'],
  ['delayMs below 1 ms', { delayMs: 0.5 }, 'SLUICE_BAD_OPTION'],
  ['delayMs below 0', { delayMs: -5 }, 'SLUICE_BAD_DURATION'],
  ['delayMs of NaN', { delayMs: Number.NaN }, 'SLUICE_BAD_DURATION'],
  ['delayMs in words', { delayMs: 'a while' }, 'SLUICE_BAD_DURATION'],
  ['no delayMs', { delayMs: undefined }, 'SLUICE_BAD_DURATION'],
  ['delayMs that answers nothing', { delayMs: () => undefined }, 'SLUICE_BAD_OPTION'],
  ['delayMs that answers below 0', { delayMs: () => -1 }, 'SLUICE_BAD_OPTION'],
  ['delayMs that answers NaN', { delayMs: () => Number.NaN }, 'SLUICE_BAD_OPTION'],
  ['delayMs that answers a promise', { delayMs: async () => 5 }, 'SLUICE_BAD_OPTION'],
  ['delayMs that throws', { delayMs: throwing }, 'SLUICE_BAD_OPTION'],
  ['delayMs that never delays', { delayMs: () => 0 }, 'SLUICE_BAD_OPTION'],
  ['delayMs that ends with no delay', { delayMs: (over: number) => (over < 9 ? over : 0) }, 'SLUICE_BAD_OPTION'],
  ["maxDelayMs of '0'", { maxDelayMs: '0' }, 'SLUICE_BAD_DURATION'],
  ['maxDelayMs of 0', { maxDelayMs: 0 }, 'SLUICE_BAD_OPTION'],
  ['maxDelayMs without end', { maxDelayMs: Number.POSITIVE_INFINITY }, 'SLUICE_BAD_DURATION'],
  ['no maxDelayMs', { maxDelayMs: undefined }, 'SLUICE_BAD_DURATION'],
  ['maxWaiting of 0', { maxWaiting: 0 }, 'SLUICE_BAD_LIMIT'],
  ['maxWaiting without end', { maxWaiting: Number.POSITIVE_INFINITY }, 'SLUICE_BAD_LIMIT'],
  ['an unknown name', { delayAfter: 5 }, 'SLUICE_BAD_OPTION'],
  ['a limit, which is another limiter’s', { limit: 5 }, 'SLUICE_BAD_OPTION'],
  ['headers, of which there are none', { headers: 'draft' }, 'SLUICE_BAD_OPTION'],
  ['plans', { plans: {} }, 'SLUICE_BAD_OPTION'],
  ['an unknown algorithm', { algorithm: 'leaky' }, 'SLUICE_BAD_POLICY'],
  ['a name that would inject a header', { name: 'a\r\nb' }, 'SLUICE_BAD_NAME'],
  ['a mode that is none', { mode: 'on' }, 'SLUICE_BAD_OPTION'],
  ['a status of 200', { status: 200 }, 'SLUICE_BAD_OPTION'],
  ['skip that is no function', { skip: true }, 'SLUICE_BAD_OPTION'],
  ['denied that is no function', { denied: 'no' }, 'SLUICE_BAD_OPTION'],
  ['a key that is no function', { key: 'ip' }, 'SLUICE_BAD_OPTION'],
  ['a cost below 0', { cost: -1 }, 'SLUICE_BAD_COST'],
  ['a clock that is none', { clock: {} }, 'SLUICE_BAD_OPTION'],
  ['a backend that is none', { backend: {} }, 'SLUICE_BAD_OPTION'],
  ['observers that are no list', { observers: {} }, 'SLUICE_BAD_OPTION'],
])('%s is refused when it is built', (_what, options, code) => {
  expect(codeOf(options)).toBe(code)
})

test('no options are refused when it is built', () => {
  expect(() => (slowDown as (options?: unknown) => unknown)()).toThrow(
    /SLUICE_BAD_OPTION: slowDown: expected an object of options, received undefined/,
  )
})

test('what is refused leaves no name taken on a backend', () => {
  const backend = memoryBackend()
  expect(codeOf({ backend, observers: {} })).toBe('SLUICE_BAD_OPTION')
  expect(codeOf({ backend, delayMs: 7 })).toBe('none')
})

test('two on one backend with other data need names of their own, until one of them is closed', () => {
  const backend = memoryBackend()
  const first = slowDown({ ...GOOD, backend })
  expect(codeOf({ backend, delayMs: 7 })).toBe('SLUICE_DUPLICATE_POLICY')
  expect(codeOf({ backend, delayMs: 7, name: 'other' })).toBe('none')
  first.close()
  first.close()
  expect(codeOf({ backend, delayMs: 7 })).toBe('none')
})
