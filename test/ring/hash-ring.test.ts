import { describe, expect, test } from '@jest/globals'
import { HashRing, type HashRingOptions } from '@sluice/fleet/backend'
import { eachSeed, hostileKeys, type SeededRandom } from '@sluice/testkit'
import { codeOf } from '../code-of.ts'

const KEYS = 30_000
const users = Array.from({ length: KEYS }, (_, n) => `user-${n}`)
const addresses = Array.from({ length: KEYS }, (_, n) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`)

function serverNames(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `redis-${n}.internal:6379`)
}

function randomSeed(random: SeededRandom): Uint8Array {
  return Uint8Array.from({ length: 16 }, () => random.whole(256))
}

function randomKeys(random: SeededRandom): string[] {
  return Array.from({ length: KEYS }, () => random.next().toString(36).slice(2))
}

/** Returns the number of keys of the fullest server, divided by the mean. */
function fullestOverMean(ring: HashRing, servers: number, keys: readonly string[]): number {
  const counts = new Map<string, number>()
  for (const key of keys) {
    const server = ring.serverOf(key)
    counts.set(server, (counts.get(server) ?? 0) + 1)
  }
  expect(counts.size).toBe(servers)
  return Math.max(...counts.values()) / (keys.length / servers)
}

/** Returns the share of keys that a fourth server takes over. */
function movedToFourth(options: HashRingOptions, keys: readonly string[]): number {
  const names = serverNames(4)
  const three = new HashRing(names.slice(0, 3), options)
  const four = new HashRing(names, options)
  const moves = keys.map((key) => [three.serverOf(key), four.serverOf(key)]).filter(([from, to]) => from !== to)
  expect(moves.filter(([, to]) => to !== names[3])).toEqual([])
  return moves.length / keys.length
}

describe('a ring of servers', () => {
  test('moves 25 % (± 3 points) of the keys to a fourth server, and no key between the old servers', () =>
    eachSeed(8, (random) => {
      const seed = randomSeed(random)
      for (const keys of [users, addresses, randomKeys(random)]) {
        expect(Math.abs(movedToFourth({ seed }, keys) - 0.25)).toBeLessThan(0.03)
      }
    }))

  test('does so under its published seed', () => {
    for (const keys of [users, addresses]) expect(Math.abs(movedToFourth({}, keys) - 0.25)).toBeLessThan(0.03)
  })

  test.each([3, 8])('gives the fullest of %i servers at most 1.3 times the mean', (servers) =>
    eachSeed(8, (random) => {
      const names = serverNames(servers)
      for (const ring of [new HashRing(names), new HashRing(names, { seed: randomSeed(random) })]) {
        for (const keys of [users, randomKeys(random)]) {
          expect(fullestOverMean(ring, servers, keys)).toBeLessThan(1.3)
        }
      }
    }),
  )

  test('gives a key the server that also wins against each other server alone, whatever the number of nodes', () =>
    eachSeed(20, (random) => {
      const names = serverNames(1 + random.whole(5))
      const options = { seed: randomSeed(random), nodes: 1 + random.whole(40) }
      const ring = new HashRing(names, options)
      for (let round = 0; round < 30; round++) {
        const key = random.pick(users)
        const wins = (one: string, other: string) => new HashRing([one, other], options).serverOf(key) === one
        const winners = names.filter((name) => names.every((other) => other === name || wins(name, other)))
        expect([ring.serverOf(key)]).toEqual(winners)
      }
    }))

  test('maps keys to the same servers whatever the order of names', () =>
    eachSeed(5, (random) => {
      const names = serverNames(8)
      const shuffled = names.map((name) => ({ name, at: random.next() })).sort((one, other) => one.at - other.at)
      const [one, other] = [new HashRing(names), new HashRing(shuffled.map(({ name }) => name))]
      expect(users.filter((key) => one.serverOf(key) !== other.serverOf(key))).toEqual([])
    }))

  test('maps keys to the same servers in every process and release', () => {
    const ring = new HashRing(serverNames(8))
    const servers = ['', 'user-1', 'user-2', '198.51.100.7', 'ключ'].map((key) => ring.serverOf(key))
    expect(servers).toEqual([5, 7, 7, 4, 0].map((n) => serverNames(8)[n]))
  })

  test('maps keys differently with another seed', () => {
    const names = serverNames(4)
    const [one, other] = [new HashRing(names), new HashRing(names, { seed: new Uint8Array(16).fill(7) })]
    const same = users.filter((key) => one.serverOf(key) === other.serverOf(key)).length
    expect(Math.abs(same / KEYS - 0.25)).toBeLessThan(0.05)
  })

  test('with one server gives it every key', () => {
    for (const nodes of [1, 1000]) {
      const ring = new HashRing(['only'], { nodes })
      for (const key of [...hostileKeys, ...users.slice(0, 1000)]) expect(ring.serverOf(key)).toBe('only')
    }
  })

  test('maps every string to a server', () => {
    const ring = new HashRing(serverNames(3))
    for (const key of hostileKeys) expect(serverNames(3)).toContain(ring.serverOf(key))
  })

  test('rejects invalid servers without printing a name, which may be a url with a password', () => {
    const make = (names: unknown, options?: unknown) => () => new HashRing(names as string[], options as object)
    const twice = ['redis://user:secret@a', 'b', 'redis://user:secret@a']
    for (const bad of [make([]), make('a'), make(undefined), make(['a', '']), make(['a', 7]), make(twice)]) {
      expect(codeOf(bad)).toBe('SLUICE_BAD_OPTION')
    }
    expect(make(twice)).not.toThrow(/secret/)
    for (const nodes of [0, -1, 1.5, Number.NaN, 2 ** 21 + 1, '100']) {
      expect(codeOf(make(['a'], { nodes }))).toBe('SLUICE_BAD_OPTION')
    }
    expect(codeOf(make(['a'], { replicas: 3 }))).toBe('SLUICE_BAD_OPTION')
    expect(codeOf(make(['a'], { seed: new Uint8Array(15) }))).toBe('SLUICE_BAD_SEED')
  })

  test('rejects a key that is not a string', () => {
    const ring = new HashRing(['a', 'b'])
    for (const key of [7, undefined, null, {}]) {
      expect(codeOf(() => ring.serverOf(key as unknown as string))).toBe('SLUICE_BAD_KEY')
    }
  })
})
