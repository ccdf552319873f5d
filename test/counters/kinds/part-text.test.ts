import { describe, expect, test } from '@jest/globals'
import { baseSeed } from '@sluice/testkit'
import fc from 'fast-check'
import { escapedId, unescapedId } from '../../../packages/counters/src/kinds/escaped-id.ts'

const seeded = { seed: baseSeed(), numRuns: 2_000 }

// special characters, as texts of 1 or 2 units of UTF-16, more frequent than all others
const special = ['\0', '\u0001', '\u0002', '\u0003', '\u0006', '\u0800', '\u0fff', '\ud7ff', '\ue000', '\uffff', '😀']
const halves = ['\ud800', '\udbff', '\udc00', '\udfff', '\ufffd', '\ufffc', '\ufffe']
const char = fc.oneof(
  fc.constantFrom('a', '~', ...special, ...halves),
  fc.nat(0xffff).map((code) => String.fromCharCode(code)),
)
const text = fc.array(char, { maxLength: 6 }).map((chars) => chars.join(''))

const HALF = /\p{Surrogate}/u

function bytesOrder(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

describe('an escaped text', () => {
  test('is unique for its text, contains no U+0000, U+0001 or lone surrogate, and has at most 7 bytes for 3', () => {
    fc.assert(
      fc.property(text, (given) => {
        const escaped = escapedId(given)
        expect(unescapedId(escaped)).toBe(given)
        expect(HALF.test(escaped)).toBe(false)
        expect(escaped.includes('\0') || escaped.includes('\u0001')).toBe(false)
        expect(Buffer.byteLength(escaped)).toBeLessThanOrEqual((7 / 3) * Buffer.byteLength(given))
      }),
      seeded,
    )
  })

  test('starts with the escaped prefixes of its text, and with no others', () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        const [whole, prefix] = [Array.from(one + other), Array.from(one)]
        // a lone surrogate that becomes a pair with the next unit is not a prefix in bytes
        const begins = prefix.every((point, n) => whole[n] === point)
        expect(escapedId(one + other).startsWith(escapedId(one))).toBe(begins)
        if (
          !Array.from(other)
            .slice(0, prefix.length)
            .every((point, n) => prefix[n] === point)
        ) {
          expect(escapedId(one).startsWith(escapedId(other))).toBe(false)
        }
      }),
      seeded,
    )
  })

  test('preserves the order of the bytes', () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        const order = bytesOrder(one, other)
        const escaped = bytesOrder(escapedId(one), escapedId(other))
        if (order === 0) expect(escaped === 0).toBe(one === other)
        // texts with lone surrogates have no unique bytes: they are written as U+FFFD
        else if (!HALF.test(one) && !HALF.test(other)) expect(escaped).toBe(order)
      }),
      seeded,
    )
  })
})
