import { createHash } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { createLimiter, memoryBackend } from '@sluice/limiter-core'
import fc from 'fast-check'
import { everyAlgorithm } from '../floods/scene.ts'

const LIMIT = 5
const megabyte = 'x'.repeat(2 ** 20)

const hostile: readonly string[] = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '', ' ', 'undefined', 'null', 'NaN'],
  ...[
    '\0',
    '\0\0',
    '\0address:',
    'a\0',
    '\r\n',
    'a\r\nSet-Cookie: b=c',
    '\n',
    '\ud800',
    '\udfff',
    '\ud800\ud800',
    '\ufffd',
  ],
  ...[
    '\udfff\ud800',
    'é',
    'e\u0301',
    'a:b',
    ':a:b',
    'a:b:',
    '1:a1:b',
    'a,b',
    '0',
    '00',
    '-0',
    '1',
    '1.0',
    '4294967295',
  ],
  ...[megabyte, `${megabyte}x`, `y${megabyte}`, `${megabyte}\ud800`, `${megabyte}é`],
]

const limiterOf = (algorithm: (typeof everyAlgorithm)[number]) =>
  createLimiter({ policies: [{ algorithm, limit: LIMIT, window: '1h' }], backend: memoryBackend() })

/** Takes a different number of units from each key, then returns the keys whose count is wrong. */
function mixedUp(keys: readonly string[], algorithm: (typeof everyAlgorithm)[number]): string[] {
  const limiter = limiterOf(algorithm)
  keys.forEach((key, index) => {
    limiter.take(key, index % LIMIT)
  })
  return keys.filter((key, index) => limiter.peek(key).verdicts[0].remaining !== LIMIT - (index % LIMIT))
}

describe.each(everyAlgorithm)('%s', (algorithm) => {
  test('each hostile key has its own count', () => {
    expect(mixedUp(hostile, algorithm)).toEqual([])
  })
})

test('any two strings have separate counts', () => {
  const keys = fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 40 }), { minLength: 2, maxLength: 50 })
  fc.assert(fc.property(keys, (some) => mixedUp(some, 'gcra').length === 0))
})

test('any two strings of 16-bit units, with or without lone surrogates, have separate counts', () => {
  const units = fc.array(fc.nat(0xffff), { maxLength: 6 }).map((codes) => String.fromCharCode(...codes))
  fc.assert(fc.property(fc.uniqueArray(units, { maxLength: 50 }), (some) => mixedUp(some, 'fixed-window').length === 0))
})

test.each<[string, (index: number) => string]>([
  ['that differ in one character', (index) => `${'a'.repeat(40)}${String.fromCharCode(index & 0xffff, index >> 16)}`],
  ['that are integers', (index) => String(index)],
  ['that are widely spaced integers', (index) => String(index * 65_536)],
  ['that are hashes', (index) => createHash('md5').update(String(index)).digest('hex')],
])('20,000 keys %s have 20,000 separate counts', (_what, keyOf) => {
  const limiter = limiterOf('gcra')
  let wrong = 0
  for (let index = 0; index < 20_000; index++) if (limiter.take(keyOf(index)).verdicts[0].remaining !== 4) wrong++
  expect(wrong).toBe(0)
})

test('no key modifies Object.prototype', () => {
  const before = Object.getOwnPropertyNames(Object.prototype)
  const limiter = createLimiter({ policies: [{ name: '__proto__', limit: 2, window: '1h' }] })
  for (const key of hostile) limiter.take(key)
  limiter.take(JSON.parse('{"__proto__": "constructor"}'))
  expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before)
  expect(({} as { default?: unknown }).default).toBeUndefined()
})

test.each([[undefined], [null], [5], [Symbol('key')], [{}], [[]], [{ default: 5 }]])(
  '%p is rejected with an error that names it',
  (key) => {
    const code = expect.objectContaining({ code: 'SLUICE_BAD_KEY' })
    const limiter = limiterOf('gcra')
    let thrown: unknown
    try {
      limiter.take(key as never)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toEqual(code)
  },
)
