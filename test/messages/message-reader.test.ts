import { describe, expect, test } from '@jest/globals'
import { read } from '@sluice/fleet/backend'

const MOST = Number.MAX_SAFE_INTEGER
const parsed = (json: string): unknown => JSON.parse(json)

function isRead<T>(reader: read.Reader<T>, value: unknown): boolean {
  try {
    reader(value)
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(read.MalformedMessage)
    return false
  }
}

const values = {
  undefined: undefined,
  null: null,
  true: true,
  '"7"': '7',
  '7n': 7n,
  '[7]': [7],
  '{}': {},
  'a Number object': Object(7),
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-1': -1,
  '-0': -0,
  '0': 0,
  '0.5': 0.5,
  '2^53 - 1': MOST,
  '2^53': MOST + 1,
}

test.each([
  ['amount', read.amount, ['-0', '0', '0.5', '2^53 - 1']],
  ['count', read.count, ['-0', '0', '2^53 - 1']],
  ['string', read.string, ['"7"']],
  ['object', read.object, ['{}', 'a Number object']],
  ['oneOf', read.oneOf(0, null, '7'), ['null', '"7"', '-0', '0']],
  ['optional', read.optional(read.count), ['undefined', '-0', '0', '2^53 - 1']],
  ['arrayOf', read.arrayOf(1), ['[7]']],
])('%s accepts only these values', (_, reader: read.Reader<unknown>, accepted) => {
  const read = Object.entries(values).filter(([, value]) => isRead(reader, value))
  expect(read.map(([name]) => name).sort()).toEqual([...accepted].sort())
})

test('text is limited in UTF-16 code units', () => {
  expect(read.text(2)('ab')).toBe('ab')
  expect(read.text(2)('😀')).toBe('😀')
  expect(isRead(read.text(2), 'abc')).toBe(false)
  expect(isRead(read.text(2), Object('ab'))).toBe(false)
})

describe('arrays', () => {
  test('beyond the limit are rejected without reading their items', () => {
    const huge = new Array(2 ** 32 - 1)
    Object.defineProperty(huge, 0, { get: () => expect(true).toBe(false) })
    expect(isRead(read.arrayOf(2 ** 16), huge)).toBe(false)
    expect(isRead(read.arrayOf(0), { length: 0 })).toBe(false)
  })

  test('are cut to their first items, without reading the others', () => {
    expect(read.firstOf(2, read.count)([1, 2, 'x'])).toEqual([1, 2])
    expect(read.firstOf(2, read.count)([1])).toEqual([1])
    expect(isRead(read.firstOf(2, read.count), [1, 'x'])).toBe(false)
    expect(isRead(read.firstOf(2, read.count), new Array(2 ** 32 - 1))).toBe(false)
    expect(isRead(read.firstOf(2, read.count), '12')).toBe(false)
  })

  test('of fixed items may be longer, but not shorter', () => {
    const pair = read.tuple(read.string, read.count)
    expect(pair(['a', 1])).toEqual(['a', 1])
    expect(pair(['a', 1, 'of a later release'])).toEqual(['a', 1])
    expect(isRead(pair, ['a'])).toBe(false)
    expect(isRead(pair, { 0: 'a', 1: 1, length: 2 })).toBe(false)
    expect(read.tuple(read.string, read.optional(read.count))(['a'])).toEqual(['a', undefined])
  })
})

describe('fields', () => {
  const point = read.fields<{ x: number; y?: number }>({ x: read.count, y: read.optional(read.count) })

  test('that are unknown are dropped, and fields that are missing remain missing', () => {
    expect(point({ x: 1, y: 2, z: 3 })).toStrictEqual({ x: 1, y: 2 })
    expect(point({ x: 1 })).toStrictEqual({ x: 1 })
    expect(point({ x: 1, y: undefined })).toStrictEqual({ x: 1, y: undefined })
    expect(read.fields({ x: (value = 7) => value })({})).toStrictEqual({ x: 7 })
    expect(isRead(point, { y: 2 })).toBe(false)
    expect(isRead(point, { x: 1, y: null })).toBe(false)
    for (const value of [null, undefined, 'x', 1, [], [1]]) expect(isRead(point, value)).toBe(false)
  })

  test('of a prototype are not read, and do not change the prototype of the result', () => {
    expect(isRead(point, Object.create({ x: 1 }))).toBe(false)
    expect(isRead(point, parsed('{"__proto__":{"x":1}}'))).toBe(false)
    const found = point(parsed('{"x":1,"__proto__":{"y":2},"constructor":{"prototype":{"y":2}}}'))
    expect(found).toStrictEqual({ x: 1 })
    expect(found.y).toBeUndefined()
    expect(Object.getPrototypeOf(found)).toBe(Object.prototype)
    const inherited = read.fields({ toString: read.optional(read.string), constructor: read.optional(read.string) })
    expect(Object.keys(inherited({}))).toEqual([])
  })

  test('of an object without a prototype are read', () => {
    expect(point(Object.assign(Object.create(null), { x: 1 }))).toStrictEqual({ x: 1 })
  })

  test('with a getter are read once, and errors of a getter are not changed', () => {
    let reads = 0
    const changing = {
      get x() {
        return reads++ === 0 ? 1 : 'later'
      },
    }
    expect(point(changing)).toStrictEqual({ x: 1 })
    expect(reads).toBe(1)
    const failing = {
      get x() {
        throw new RangeError('getter')
      },
    }
    expect(() => point(failing)).toThrow(RangeError)
  })
})

test('an error names the expected and the received type, and contains no value', () => {
  const account = read.fields({ password: read.count })
  expect(() => account({ password: 'hunter2' })).toThrow(
    'expected an integer from 0 to 2^53 - 1, received a string of 7 characters',
  )
  expect(() => read.oneOf('ok', 'open')('secret')).toThrow('expected ok or open, received a string of 6 characters')
})
