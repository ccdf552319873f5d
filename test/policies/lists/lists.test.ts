import { describe, expect, test } from '@jest/globals'
import { compileList, type PolicyFileError, parsePolicies } from '@sluice/policies'
import { eachSeed, hostileKeys } from '@sluice/testkit'
import { NaiveList, nodeList, randomAddress, randomRange } from './naive-list.ts'

const listOf = (...entries: string[]) => {
  const { list, problems } = compileList(entries)
  expect(problems).toEqual([])
  return list
}

const problemOf = (entry: string): string | undefined => compileList([entry]).problems[0]?.message

describe('a list', () => {
  test('has its addresses in any notation', () => {
    const list = listOf('192.0.2.1', '2001:db8::1', '::ffff:198.51.100.7')
    const inside = [
      '192.0.2.1',
      '::ffff:192.0.2.1',
      '::ffff:c000:201',
      '2001:DB8:0:0::1',
      '2001:db8::1%eth0',
      '198.51.100.7',
    ]
    const outside = ['192.0.2.2', '2001:db8::2', '::192.0.2.1', '198.51.100.8', 'unknown', '', '192.0.2.1:80']
    expect(inside.filter((address) => !list.has(address, undefined))).toEqual([])
    expect(outside.filter((address) => list.has(address, undefined))).toEqual([])
  })

  test('has its keys, exactly as they are written', () => {
    const list = listOf('alice', 'Bob', 'user:7', 'team/blue', 'naïve 🚦', '12345')
    for (const key of ['alice', 'Bob', 'user:7', 'team/blue', 'naïve 🚦', '12345'])
      expect(list.has(undefined, key)).toBe(true)
    for (const key of ['Alice', 'bob', 'user:70', '', 'alice ']) expect(list.has(undefined, key)).toBe(false)
  })

  test('compares addresses with addresses and keys with keys', () => {
    const list = listOf('192.0.2.1', 'alice')
    expect(list.has('alice', '192.0.2.1')).toBe(false)
    expect(list.has('192.0.2.1', 'bob')).toBe(true)
    expect(list.has('192.0.2.9', 'alice')).toBe(true)
    expect(list.has(undefined, undefined)).toBe(false)
  })

  test('accepts any key of a request', () => {
    const list = listOf('alice', '__proto__', 'x'.repeat(1_024))
    for (const key of hostileKeys) expect(list.has(key, key)).toBe(key === '__proto__')
    for (const key of ['x'.repeat(1_025), 'x'.repeat(1_000_000), '\ud800', '\ufffd', '\0']) {
      expect(list.has(key, key)).toBe(false)
    }
    expect(list.has(undefined, 'x'.repeat(1_024))).toBe(true)
  })

  test('has nothing if it is empty', () => {
    expect(listOf().has('192.0.2.1', 'alice')).toBe(false)
    expect(listOf().size).toBe(0)
  })

  test('counts its entries, and repeated ones as well', () => {
    expect(listOf('alice', 'alice', '10.0.0.0/8', '10.0.0.1').size).toBe(4)
  })

  test('has a range within another range, and what is around it', () => {
    const list = listOf('10.1.0.0/16', '10.0.0.0/8', '10.1.2.3', '10.0.0.0/16', '2001:db8::/32', '2001:db8:1::/48')
    for (const address of ['10.0.0.0', '10.1.2.3', '10.255.255.255', '2001:db8:1::', '2001:db8:ffff::1']) {
      expect(list.has(address, undefined)).toBe(true)
    }
    for (const address of ['9.255.255.255', '11.0.0.0', '2001:db7:ffff::', '2001:db9::']) {
      expect(list.has(address, undefined)).toBe(false)
    }
  })

  test('has all addresses of a version in a range of length 0', () => {
    expect(listOf('0.0.0.0/0').has('203.0.113.9', undefined)).toBe(true)
    expect(listOf('0.0.0.0/0').has('2001:db8::1', undefined)).toBe(false)
    expect(listOf('::/0').has('2001:db8::1', undefined)).toBe(true)
    expect(listOf('::/0').has('::ffff:203.0.113.9', undefined)).toBe(false)
    expect(listOf('::ffff:0:0/96').has('203.0.113.9', undefined)).toBe(true)
  })

  test('agrees with a list that compares each entry in turn', async () => {
    await eachSeed(20, (random) => {
      const size = random.pick([1, 3, 30, 300])
      const entries = Array.from({ length: size }, () => {
        return random.whole(4) === 0 ? `key-${random.whole(500)}` : randomRange(random)
      })
      const [list, naive] = [listOf(...entries), new NaiveList(entries)]
      for (let ask = 0; ask < 500; ask++) {
        const [address, key] = [randomAddress(random), `key-${random.whole(500)}`]
        const asked = random.pick<[string | undefined, string | undefined]>([
          [address, undefined],
          [undefined, key],
          [address, key],
        ])
        expect({ asked, entries, has: list.has(...asked) }).toEqual({ asked, entries, has: naive.has(...asked) })
      }
    })
  })

  test('agrees with a naive list and with Node about many ranges', async () => {
    await eachSeed(2, (random) => {
      const ranges = Array.from({ length: 6_000 }, () => randomRange(random)).filter(
        (range) => !/[/][0-9]$/.test(range),
      )
      const [list, naive] = [listOf(...ranges), new NaiveList(ranges)]
      const node = nodeList(ranges.filter((range) => !range.startsWith('::ffff:')))
      for (let ask = 0; ask < 400; ask++) {
        const address = randomAddress(random)
        const expected = naive.has(address, undefined)
        expect({ address, has: list.has(address, undefined) }).toEqual({ address, has: expected })
        if (!expected)
          expect(node.check(address.replace('::ffff:', ''), address.includes('.') ? 'ipv4' : 'ipv6')).toBe(false)
      }
    })
  })
})

describe('an invalid entry', () => {
  test.each([
    ['10.0.0.0/33', "expected a prefix length from 0 to 32, received '33'"],
    ['10.0.0.0/', "expected a prefix length from 0 to 32, received ''"],
    ['10.0.0.0/255.0.0.0', "expected a prefix length from 0 to 32, received '255.0.0.0'"],
    ['10.0.0.0/08', "expected a prefix length from 0 to 32, received '08'"],
    ['2001:db8::/129', "expected a prefix length from 0 to 128, received '129'"],
    [
      '10.0.0.1/8',
      'expected a range that begins at its first address, such as 10.0.0.0/8, received an address within it',
    ],
    [
      '2001:db8::1/32',
      'expected a range that begins at its first address, such as 2001:db8::/32, received an address within it',
    ],
  ])('%p is reported: %s', (entry, message) => {
    expect(problemOf(entry)).toBe(message)
  })

  test.each([
    ...['300.0.0.1', '010.0.0.1', '1.2.3.4:80', '10.0.*.*', '10.0.0.1-10.0.0.9', '10.0.0/8', '10/8'],
    ...['2001:db8:::1', '1:2:3:4:5:6:7:8:9', '[::1]', '[::1]:80', '::ffff:300.0.0.1', '2001:db8::/x/y', ':::'],
  ])('%p, which looks like an address, is not a key', (entry) => {
    expect(problemOf(entry)).toMatch(/^expected (an address such as 192\.0\.2\.1|a prefix length)/)
  })

  test.each([
    'user:7',
    'a:b',
    'v1.2.3',
    '1.5',
    '12',
    'team/blue',
    '10.0.0.1.example.org',
    'a-b',
    'ann@example.org',
    'tel:+1',
  ])('%p is a valid key', (entry) => {
    expect(problemOf(entry)).toBeUndefined()
  })

  test.each(['', 'a\0b', 'a\nb', 'caf\ufffd', '\ud800'])('%j is neither an address nor a key', (entry) => {
    expect(problemOf(entry)).toBe('expected an address, a range or a key in UTF-8, received another text')
  })

  test('is at most 1,024 characters long', () => {
    expect(problemOf('x'.repeat(1_024))).toBeUndefined()
    expect(problemOf('x'.repeat(1_025))).toBe('expected an entry of at most 1024 characters, received 1025')
  })

  test('is left out, and the others are in the list', () => {
    const { list, problems, invalid } = compileList(['10.0.0.0/40', 'alice'])
    expect(problems).toEqual([{ line: 1, column: 1, path: '[0]', message: expect.stringContaining('prefix length') }])
    expect({ invalid, size: list.size, has: list.has(undefined, 'alice') }).toEqual({ invalid: 1, size: 1, has: true })
  })

  test('is described 100 times at most', () => {
    const { problems, invalid } = compileList(Array(250).fill('10.0.0.0/40'))
    expect({ described: problems.length, invalid }).toEqual({ described: 100, invalid: 250 })
  })

  test('in a policy file is a problem with its line and column', () => {
    const text =
      'version: 1\npolicies: [{ name: a, limit: 1, per: 1s }]\nlists:\n  block:\n    - alice\n    - 10.0.0.1/8\n'
    const parse = (): unknown => parsePolicies(text, 'policies.yaml')
    expect(parse).toThrow(/policies\.yaml:6:7: lists\.block\[1\]: expected a range that begins at its first address/)
    const caught = (() => {
      try {
        return parse()
      } catch (error) {
        return error
      }
    })() as PolicyFileError
    expect(caught.problems).toHaveLength(1)
  })
})

describe('a warning', () => {
  test.each([
    ['0.0.0.0/0', 'the range 0.0.0.0/0 has all IPv4 addresses'],
    ['::/0', 'the range ::/0 has all IPv6 addresses'],
    ['::ffff:0:0/96', 'the range 0.0.0.0/0 has all IPv4 addresses'],
    ['128.0.0.0/1', 'the range 128.0.0.0/1 has 1 of 2 of all IPv4 addresses'],
    ['2000::/3', 'the range 2000::/3 has 1 of 8 of all IPv6 addresses'],
  ])('describes %s', (entry, message) => {
    const { list, problems, warnings } = compileList(['alice', entry])
    expect(problems).toEqual([])
    expect(warnings).toEqual([{ line: 1, column: 1, path: '[1]', message }])
    expect(list.size).toBe(2)
  })

  test.each(['10.0.0.0/8', 'fc00::/7', '::1', 'alice'])('is not given about %s', (entry) => {
    expect(compileList([entry]).warnings).toEqual([])
  })
})
