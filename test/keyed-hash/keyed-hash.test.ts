import { describe, expect, test } from '@jest/globals'
import { createKeyedHash } from '@sluice/limiter-core/keyed-hash'
import fc from 'fast-check'
import { definedHash } from './definition.ts'
import { bytesHash, hex, textHash } from './hashes.ts'
import { seedAt } from './seeds.ts'

const megabyte = 2 ** 20
// around a unit, a round of the loop, a block of 256 or 512 characters, and a full level of the digest tree
const edges = [0, 1, 2, 3, 4, 5, 255, 256, 257, 511, 512, 513, 1_024, 16_384, 16_385, 32_767, 32_768, 32_769, 65_536]

describe('createKeyedHash', () => {
  const hash = createKeyedHash(seedAt(0))
  const latin1 = Buffer.from(Array.from({ length: 65_536 }, (_, i) => (i * 167 + (i >> 8)) & 255))

  test.each(edges)('hashes a key of %i characters as defined, latin1 or not', (length) => {
    const key = latin1.toString('latin1', 0, length)
    expect(textHash(hash, key)).toBe(hex(definedHash(seedAt(0), key)))
    const wide = `${key.slice(1)}€`
    expect(textHash(hash, wide)).toBe(hex(definedHash(seedAt(0), wide)))
  })

  test('hashes a key that fills two levels of the digest tree as defined', () => {
    const key = 'sluice '.repeat(2 ** 21 / 7 + 1).slice(0, 2 ** 21 + 1)
    expect(textHash(hash, key)).toBe(hex(definedHash(seedAt(0), key)))
  })

  test('hashes any string as defined, including lone surrogates', () => {
    const anyString = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 700 })
    fc.assert(
      fc.property(anyString, fc.nat(), (units, n) => {
        const key = String.fromCharCode(...units)
        expect(textHash(createKeyedHash(seedAt(n)), key)).toBe(hex(definedHash(seedAt(n), key)))
      }),
      { numRuns: 60 },
    )
  })

  test.each(edges)('hashes %i bytes like the same text in latin1', (length) => {
    const bytes = latin1.subarray(0, length)
    expect(bytesHash(hash, bytes)).toBe(textHash(hash, bytes.toString('latin1')))
    expect(bytesHash(hash, new Uint8Array(bytes))).toBe(bytesHash(hash, bytes))
  })

  test('gives each unusual key its own hash', () => {
    const strange = [
      '',
      '\0',
      '\0\0',
      '\0\0\0',
      'a',
      'a\0',
      'a\0\0',
      '\0a',
      'ab',
      'ba',
      '扡',
      '\ud800',
      '\udfff',
      '\ud800\udfff',
    ]
    const named = ['__proto__', 'constructor', 'toString', '\r\n', 'é', 'e\u0301', 'Ā', 'ÿ', '€']
    const long = [0, 1, 2].flatMap((more) => ['\0', 'a', '€'].map((unit) => unit.repeat(megabyte + more)))
    const lengths = edges.slice(3).map((length) => '\0'.repeat(length + 1))
    const keys = new Set([...strange, ...named, ...long, ...lengths])
    expect(new Set([...keys].map((key) => textHash(hash, key))).size).toBe(keys.size)
  })

  test('does not depend on how a string was built', () => {
    const flat = Buffer.from('198.51.100.7/api/orders').toString('latin1')
    const [client, route] = ['198.51.100.7', '/api/orders']
    const cut = `>>> ${flat} <<<`.slice(4, -4)
    const wideBuffer = Buffer.from(flat, 'utf16le').toString('utf16le')
    for (const key of [client + route, `${client}${route}`, cut, wideBuffer]) {
      expect(textHash(hash, key)).toBe(textHash(hash, flat))
    }
  })

  test('leaves no trace of the previous key', () => {
    const keys = ['a', 'x'.repeat(5_000), '€'.repeat(5_000), `${'x'.repeat(5_000)}€`, 'b']
    for (const before of keys) {
      for (const key of keys) {
        hash.text(before)
        expect(textHash(hash, key)).toBe(textHash(createKeyedHash(seedAt(0)), key))
      }
    }
  })

  test('returns small integers', () => {
    for (const key of ['', 'a', 'b', '€', 'x'.repeat(1_000)]) {
      hash.text(key)
      expect([hash.low, hash.high]).toEqual([hash.low | 0, hash.high | 0])
    }
  })
})

describe('the seed', () => {
  test('is random by default', () => {
    const hashes = Array.from({ length: 100 }, () => textHash(createKeyedHash(), 'key'))
    expect(new Set(hashes).size).toBe(100)
  })

  test('determines the hashes, and a change of one bit changes them', () => {
    const near = Uint8Array.from(seedAt(1))
    near[15] ^= 1
    expect(textHash(createKeyedHash(seedAt(1)), 'key')).toBe(
      textHash(createKeyedHash(Uint8Array.from(seedAt(1))), 'key'),
    )
    expect(textHash(createKeyedHash(near), 'key')).not.toBe(textHash(createKeyedHash(seedAt(1)), 'key'))
  })

  test.each([
    ['15 bytes', new Uint8Array(15)],
    ['0 bytes', new Uint8Array()],
    ['a string', 'sixteen letters!'],
    ['null', null],
    ['a number', 16],
  ])('is rejected with SLUICE_BAD_SEED and a description of the value: %s', (got, seed) => {
    const attempt = () => createKeyedHash(seed as Uint8Array)
    expect(attempt).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_SEED', message: expect.stringContaining(got) }))
  })
})
