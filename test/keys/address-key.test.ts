import { BlockList, isIPv4 } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { addressKey, addressRules } from '@sluice/limiter-core/http'
import fc from 'fast-check'
import { ipv4, ipv4InIPv6, ipv6 } from './address-spellings.ts'
import { groups, plain, spelt, style } from './spelt-addresses.ts'

const rules = addressRules()
const rulesOf = (ipv6Prefix: number) => addressRules({ ipv6Prefix })

function bitsOf(address: readonly number[]): string {
  return address.map((value) => value.toString(2).padStart(16, '0')).join('')
}

describe('one client has one key', () => {
  test.each([...ipv4, ...ipv4InIPv6, ...ipv6])('%s', (text, by56, by64 = by56, by48 = by56) => {
    expect(addressKey(text, rules)).toBe(by56)
    expect(addressKey(text, rulesOf(64))).toBe(by64)
    expect(addressKey(text, rulesOf(48))).toBe(by48)
  })

  test('however its sixteen octets are written', () => {
    fc.assert(
      fc.property(groups, style, style, fc.integer({ min: 32, max: 128 }), (address, one, other, bits) => {
        const key = addressKey(spelt(address, one), rulesOf(bits))
        expect(key).toBeDefined()
        expect(addressKey(spelt(address, other), rulesOf(bits))).toBe(key)
      }),
      { numRuns: 2_000 },
    )
  })

  test('and two addresses with different prefixes have two keys', () => {
    const native = groups.map(([, ...rest]) => [0x2001, ...rest])
    fc.assert(
      fc.property(native, native, style, fc.integer({ min: 32, max: 128 }), (a, b, how, bits) => {
        const alike = bitsOf(a).slice(0, bits) === bitsOf(b).slice(0, bits)
        expect(addressKey(spelt(a, how), rulesOf(bits)) === addressKey(spelt(b, how), rulesOf(bits))).toBe(alike)
      }),
      { numRuns: 2_000 },
    )
  })

  test('and addresses that differ in the last bit of a prefix have two keys', () => {
    fc.assert(
      fc.property(groups, fc.integer({ min: 32, max: 128 }), (tail, bits) => {
        const a = [0x2001, ...tail.slice(1)]
        const at = (bits - 1) >> 4
        const b = a.with(at, a[at] ^ (1 << (15 - ((bits - 1) % 16))))
        const key = addressKey(plain(a), rulesOf(bits))
        expect(addressKey(plain(b), rulesOf(bits))).not.toBe(key)
      }),
    )
  })

  test('which, with its prefix, is a subnet that contains the address according to node:net', () => {
    const native = groups.map(([, ...rest]) => [0x2a00, ...rest])
    fc.assert(
      fc.property(native, style, fc.integer({ min: 32, max: 127 }), (address, how, bits) => {
        const [net, length] = (addressKey(spelt(address, how), rulesOf(bits)) as string).split('/')
        const subnet = new BlockList()
        subnet.addSubnet(net, Number(length), 'ipv6')
        expect(length).toBe(String(bits))
        expect(subnet.check(plain(address), 'ipv6')).toBe(true)
      }),
    )
  })

  test('which for IPv4 is the dotted notation', () => {
    fc.assert(
      fc.property(fc.ipV4(), (text) => {
        expect(isIPv4(text)).toBe(true)
        expect(addressKey(text, rules)).toBe(text)
        expect(addressKey(`::ffff:${text}`, rules)).toBe(text)
        expect(addressKey(`64:ff9b::${text}`, rules)).toBe(text)
      }),
    )
  })
})

describe('embedded IPv4', () => {
  // RFC 6052 section 2.4, and the same address with the last octet changed
  test.each([
    ['2001:db8::/32', '2001:db8:c000:221::', '2001:db8:c000:222::'],
    ['2001:db8:100::/40', '2001:db8:1c0:2:21::', '2001:db8:1c0:2:22::'],
    ['2001:db8:122::/48', '2001:db8:122:c000:2:2100::', '2001:db8:122:c000:2:2200::'],
    ['2001:db8:122:300::/56', '2001:db8:122:3c0:0:221::', '2001:db8:122:3c0:0:222::'],
    ['2001:db8:122:344::/64', '2001:db8:122:344:c0:2:2100::', '2001:db8:122:344:c0:2:2200::'],
    ['2001:db8:122:344::/96', '2001:db8:122:344::192.0.2.33', '2001:db8:122:344::192.0.2.34'],
  ])('under %s is its own key', (prefix, one, other) => {
    const custom = addressRules({ embeddedIPv4Prefixes: [prefix] })
    expect(addressKey(one, custom)).toBe('192.0.2.33')
    expect(addressKey(other, custom)).toBe('192.0.2.34')
  })

  test('is not recognized unless the "u" octet is zero, as translators keep it', () => {
    const custom = addressRules({ embeddedIPv4Prefixes: ['2001:db8::/32', '2001:db9:122:344::/64'] })
    expect(addressKey('2001:db8:c000:221:100::', custom)).toBe('2001:db8:c000:200::/56')
    expect(addressKey('2001:db9:122:344:1c0:2:2100::', custom)).toBe('2001:db9:122:300::/56')
  })

  test('is read by the longer of two prefixes', () => {
    const custom = addressRules({ embeddedIPv4Prefixes: ['64:ff9b:1::/48', '64:ff9b:1:fffe::/96'] })
    expect(addressKey('64:ff9b:1:fffe::192.0.2.33', custom)).toBe('192.0.2.33')
    expect(addressKey('64:ff9b:1:c000:2:2100::', custom)).toBe('192.0.2.33')
  })

  test('is read only under the configured prefixes, and always if it is mapped or 6to4', () => {
    const none = addressRules({ embeddedIPv4Prefixes: [] })
    expect(addressKey('64:ff9b::1.2.3.4', none)).toBe('64:ff9b::/56')
    expect(addressKey('::ffff:1.2.3.4', none)).toBe('1.2.3.4')
    expect(addressKey('2002:102:304::', none)).toBe('1.2.3.4')
  })

  test('never includes the loopback address', () => {
    expect(addressKey('::1', addressRules({ embeddedIPv4Prefixes: ['::/96'] }))).toBe('::1')
  })
})

describe('invalid address options are rejected at start-up', () => {
  test.each<[string, unknown, string]>([
    ['ipv6Prefix', { ipv6Prefix: 31 }, 'ipv6Prefix: expected an integer from 32 to 128, received 31'],
    ['ipv6Prefix', { ipv6Prefix: 129 }, 'received 129'],
    ['ipv6Prefix', { ipv6Prefix: 56.5 }, 'received 56.5'],
    ['ipv6Prefix', { ipv6Prefix: Number.NaN }, 'received NaN'],
    ['ipv6Prefix', { ipv6Prefix: '56' }, 'received "56"'],
    ['ipv6Prefix', { ipv6Prefix: null }, 'received null'],
    ['embeddedIPv4Prefixes', { embeddedIPv4Prefixes: '64:ff9b::/96' }, 'expected an array'],
    [
      'embeddedIPv4Prefixes',
      { embeddedIPv4Prefixes: ['64:ff9b::'] },
      "expected an IPv6 prefix of /32, /40, /48, /56, /64 or /96 whose other bits are 0, such as '64:ff9b::/96', " +
        'received "64:ff9b::"',
    ],
    ['embeddedIPv4Prefixes', { embeddedIPv4Prefixes: ['64:ff9b::/95'] }, 'received "64:ff9b::/95"'],
    ['embeddedIPv4Prefixes', { embeddedIPv4Prefixes: ['64:ff9b::1/96'] }, 'whose other bits are 0'],
    ['embeddedIPv4Prefixes', { embeddedIPv4Prefixes: ['1.2.3.4/32'] }, 'received "1.2.3.4/32"'],
    ['embeddedIPv4Prefixes', { embeddedIPv4Prefixes: ['nonsense/64'] }, 'received "nonsense/64"'],
    ['embeddedIPv4Prefixes', { embeddedIPv4Prefixes: [96] }, 'received 96'],
    ['a misspelt name', { ipv6prefix: 64 }, 'expected ipv6Prefix, received an unknown option "ipv6prefix"'],
    ['no object', 64, 'expected an object of options, received a number'],
    ['an array', [64], 'expected an object of options, received an array of length 1'],
  ])('%s %j', (_option, options, message) => {
    const compile = () => addressRules(options as never)
    expect(compile).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
    expect(compile).toThrow(message)
  })
})
