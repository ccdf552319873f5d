import { describe, expect, test } from '@jest/globals'
import { baseSeed } from '@sluice/testkit'
import fc from 'fast-check'
import { escapedText, textOf } from '../../../packages/counters/src/kinds/part-text.ts'

const seeded = { seed: baseSeed(), numRuns: 2_000 }

// what has a meaning of its own, as text of 1 or 2 units of UTF-16, more often than all the rest
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
  test('is that of one text, has no U+0000, U+0001 and half of a pair, and at most 7 bytes for 3', () => {
    fc.assert(
      fc.property(text, (given) => {
        const escaped = escapedText(given)
        expect(textOf(escaped)).toBe(given)
        expect(HALF.test(escaped)).toBe(false)
        expect(escaped.includes('\0') || escaped.includes('\u0001')).toBe(false)
        expect(Buffer.byteLength(escaped)).toBeLessThanOrEqual((7 / 3) * Buffer.byteLength(given))
      }),
      seeded,
    )
  })

  test('begins with the escaped prefixes of its text, and with no others', () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        const [whole, prefix] = [Array.from(one + other), Array.from(one)]
        // a half that becomes a pair with what follows is no prefix of it by its bytes
        const begins = prefix.every((point, n) => whole[n] === point)
        expect(escapedText(one + other).startsWith(escapedText(one))).toBe(begins)
        if (
          !Array.from(other)
            .slice(0, prefix.length)
            .every((point, n) => prefix[n] === point)
        ) {
          expect(escapedText(one).startsWith(escapedText(other))).toBe(false)
        }
      }),
      seeded,
    )
  })

  test('keeps the order of the bytes', () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        const order = bytesOrder(one, other)
        const escaped = bytesOrder(escapedText(one), escapedText(other))
        if (order === 0) expect(escaped === 0).toBe(one === other)
        // texts with halves have no bytes of their own: they stand where U+FFFD does
        else if (!HALF.test(one) && !HALF.test(other)) expect(escaped).toBe(order)
      }),
      seeded,
    )
  })
})
