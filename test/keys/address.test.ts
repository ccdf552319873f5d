import { isIP, isIPv6, SocketAddress } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { addressKey, addressRules, parseAddress, writeIPv6 } from '@sluice/limiter-core/http'
import fc from 'fast-check'
import { garbage } from './address-spellings.ts'
import { groups, plain, spelt, style } from './spelt-addresses.ts'

const rules = addressRules()

describe('an address', () => {
  test('is parsed from each of its spellings', () => {
    fc.assert(
      fc.property(groups, style, (address, how) => {
        expect(parseAddress(spelt(address, how))).toEqual({ version: 6, groups: address })
      }),
      { numRuns: 1_000 },
    )
  })

  test('of IPv4 has two groups', () => {
    expect(parseAddress('203.0.113.7')).toEqual({ version: 4, groups: [0xcb00, 0x7107] })
    expect(parseAddress('255.255.255.255')).toEqual({ version: 4, groups: [0xffff, 0xffff] })
  })
})

describe('text that is not an address', () => {
  test.each(garbage)('%j has no key', (text) => {
    expect(parseAddress(text)).toBeUndefined()
    expect(addressKey(text, rules)).toBeUndefined()
  })

  test('is recognized in agreement with node:net', () => {
    const piece = fc.constantFrom(...'0123456789abcdef:.%[]x ', '::', '1.2.3.4', 'ffff:', '0:', ':1')
    const text = fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join(''))
    // valid except in one place, where a piece is inserted or replaced
    const nearly = fc.tuple(groups, style, piece, fc.nat(45), fc.nat(2)).map(([address, how, put, at, gone]) => {
      const whole = spelt(address, how)
      return whole.slice(0, at) + put + whole.slice(at + gone)
    })
    fc.assert(
      fc.property(fc.oneof(text, nearly, fc.ipV4(), fc.ipV6()), (candidate) => {
        const version = isIP(candidate)
        const alike = (parseAddress(candidate)?.version ?? 0) === version
        return alike && (addressKey(candidate, rules) !== undefined) === (version !== 0)
      }),
      { numRuns: 20_000 },
    )
  })

  test('is recognized quickly, even if it is a megabyte long', () => {
    const seeds = [':', '::', '1:', '.', '1.', '0', '%', 'fe80::1%a', 'f', '::ffff:', '1.2.3.4', '\0', '\ud800']
    const hostile = seeds.map((seed) => seed.repeat(Math.ceil(2 ** 20 / seed.length)))
    // overlong text is rejected by its length, so a thousand rounds take no longer than with a short text
    for (let round = 0; round < 1_000; round++) {
      if (hostile.some((text) => addressKey(text, rules) !== undefined)) throw new Error('read as an address')
    }
  }, 5_000)
})

describe('canonical text', () => {
  test('equals the output of node:net, unless node:net writes a dotted tail', () => {
    fc.assert(
      fc.property(groups, (address) => {
        const theirs = new SocketAddress({ family: 'ipv6', address: plain(address) }).address
        const ours = writeIPv6(address)
        expect(isIPv6(ours)).toBe(true)
        if (!theirs.includes('.')) expect(ours).toBe(theirs)
      }),
      { numRuns: 2_000 },
    )
  })

  test.each([
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['2001:DB8:0:0:0:0:0:A', '2001:db8::a'],
    ['1:2:3:4:5:6:0:0', '1:2:3:4:5:6::'],
    ['0:0:1:2:3:4:5:6', '::1:2:3:4:5:6'],
    ['0:1:2:3:4:5:6:7', '0:1:2:3:4:5:6:7'],
  ])('of %s by RFC 5952 is %s', (text, canonical) => {
    expect(writeIPv6(parseAddress(text)?.groups ?? [])).toBe(canonical)
  })
})
