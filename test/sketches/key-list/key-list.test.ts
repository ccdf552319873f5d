import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { SketchSeed } from '@sluice/sketches'
import { allowList, blockList, joinedKey, type KeyList, type KeyListOptions } from '@sluice/sketches/limits'
import { FakeClock, hostileKeys, Warnings } from '@sluice/testkit'
import fc from 'fast-check'
import { hostileBytes } from '../contract/hostile-bytes.ts'
import { codeOf } from '../contract/sketch-contract.ts'

const seed = new SketchSeed('a seed that the tests know')
const warnings = new Warnings()

beforeEach(() => warnings.listen())
afterEach(() => warnings.stop())

/** A list of `users`, and what was asked of its exact stage. */
function listOf(users: readonly string[], options: Partial<KeyListOptions> = {}) {
  const asked: string[] = []
  const exact = (key: string): boolean => {
    asked.push(key)
    return users.includes(key)
  }
  const list = blockList({ capacity: 1000, seed, exact, clock: new FakeClock(), ...options })
  list.addAll(users)
  return { list, asked }
}

/** The first user who is not on `list` and whom its filter takes for one who is. */
function takenForOne(list: KeyList): string {
  for (let n = 0; ; n++) {
    const { positives } = list.stats
    list.has(`stranger ${n}`)
    if (list.stats.positives > positives) return `stranger ${n}`
  }
}

describe('a list of keys', () => {
  test('says no at once and asks nobody about keys that it does not hold', () => {
    const { list, asked } = listOf(['ann', 'bob'])
    expect([list.has('carl'), list.has(''), list.has('Ann')]).toEqual([false, false, false])
    expect(asked).toEqual([])
    expect(list.stats).toEqual({
      asked: 3,
      passedByFilter: 3,
      positives: 0,
      falsePositives: 0,
      remembered: 0,
      ruled: 0,
    })
  })

  test('asks about keys that it holds, and answers at once where that does', () => {
    const { list, asked } = listOf(['ann', 'bob'])
    expect([list.has('ann'), list.has('bob')]).toEqual([true, true])
    expect(asked).toEqual(['ann', 'bob'])
    expect(list.stats).toMatchObject({ asked: 2, passedByFilter: 0, positives: 2, falsePositives: 0 })
  })

  test('has the last word of the exact stage, also of a key that was taken off the list', async () => {
    const users = new Set(['ann'])
    const list = allowList({ capacity: 10, exact: async (key) => users.has(key) })
    list.addAll(users)
    expect(await list.has('ann')).toBe(true)
    users.delete('ann')
    expect(await list.has('ann')).toBe(false)
    expect(list.stats).toMatchObject({ asked: 2, positives: 2, falsePositives: 1 })
  })

  test('never says no by itself of a key that was added, whatever the key', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.double(), fc.bigInt()), { maxLength: 300 }),
        async (keys) => {
          const list = blockList({ capacity: 5, exact: () => true })
          list.addAll(keys)
          for (const key of [...keys, ...keys.map(String)]) expect(list.has(key)).toBe(true)
        },
      ),
      { numRuns: 30 },
    )
  })

  test.each(hostileKeys.map((key) => [key]))('holds %j as a key like others', (key) => {
    const { list } = listOf([key])
    expect(list.has(key)).toBe(true)
    expect(list.has(`${key} `)).toBe(false)
  })

  test('takes a number for its text', () => {
    const { list } = listOf(['7'])
    expect([list.has(7), list.has(7n), list.has('7'), list.has('07')]).toEqual([true, true, true, false])
  })

  test.each([[undefined], [null], [{}], [['ann']], [Symbol('ann')], [Object.create(null)], [true]])(
    'says no of %p, which is no key, and takes none in',
    (key) => {
      const { list } = listOf(['ann', 'undefined', 'null', '[object Object]', 'true'])
      expect(list.has(key as never)).toBe(false)
      expect(codeOf(() => list.add(key as never))).toBe('SLUICE_BAD_KEY')
    },
  )

  test('asks about few of the keys that it does not hold', () => {
    const users = Array.from({ length: 1000 }, (_, n) => `user ${n}`)
    const { list, asked } = listOf(users)
    for (let n = 0; n < 20_000; n++) expect(list.has(`stranger ${n}`)).toBe(false)
    expect(asked.length).toBeLessThan(20_000 * 0.01 + 3 * Math.sqrt(200))
    expect(list.stats).toMatchObject({ asked: 20_000, falsePositives: asked.length, positives: asked.length })
    expect(list.falsePositiveRate).toBeLessThan(0.012)
    expect(Math.abs(list.size - 1000)).toBeLessThan(30)
    expect(list.bytes).toBe(list.toBytes().length)
  })

  test('adds what comes of a database, row by row', async () => {
    const list = blockList({ capacity: 100, exact: () => true })
    async function* rows(): AsyncGenerator<string | number> {
      yield 'ann'
      yield 7
    }
    expect(await list.addAll(rows())).toBe(2)
    expect([list.has('ann'), list.has('7'), list.has('bob')]).toEqual([true, true, false])
    expect(list.addAll(new Set(['bob', 'carl', 'dora']))).toBe(3)
    expect(list.has('dora')).toBe(true)
  })

  test('keeps what it has where the rows break off, and says so', async () => {
    const list = blockList({ capacity: 100, exact: () => true })
    async function* rows(): AsyncGenerator<string> {
      yield 'ann'
      throw new Error('the connection is gone')
    }
    await expect(list.addAll(rows())).rejects.toThrow('the connection is gone')
    expect(list.has('ann')).toBe(true)
  })

  test.each([['ann'], [undefined], [null], [7]])('does not take %p for many keys', (keys) => {
    const { list } = listOf([])
    expect(codeOf(() => list.addAll(keys as never))).toBe('SLUICE_BAD_KEY')
    expect(list.has('a')).toBe(false)
  })

  test('tells pairs apart that would be one text', () => {
    const { list } = listOf([joinedKey('user:1', '2'), joinedKey('a', 'b', 'c')])
    expect(list.has(joinedKey('user:1', 2))).toBe(true)
    for (const other of [
      ['user', '1:2'],
      ['user:1', '2', ''],
      ['ab', 'c'],
      ['a', 'bc'],
    ]) {
      expect(list.has(joinedKey(...other))).toBe(false)
    }
  })

  test('writes its filter, and another list of the seed reads it or adds it to its own', () => {
    const { list } = listOf(['ann', 'bob'])
    const [read, merged] = [listOf(['carl']).list, listOf(['carl']).list]
    read.load(list.toBytes())
    merged.merge(list.toBytes())
    const holds = (of: KeyList): boolean[] =>
      ['ann', 'bob', 'carl'].map((key) => {
        const { positives } = of.stats
        of.has(key)
        return of.stats.positives > positives
      })
    expect(holds(read)).toEqual([true, true, false])
    expect(holds(merged)).toEqual([true, true, true])
  })

  test('reads a filter of another size, and does not add one to its own', () => {
    const large = listOf(['ann'], { capacity: 100_000 }).list
    const { list } = listOf(['carl'])
    expect(codeOf(() => list.merge(large.toBytes()))).toBe('SLUICE_SKETCH_MISMATCH')
    list.load(large.toBytes())
    expect(list.bytes).toBe(large.bytes)
  })

  test('refuses hostile bytes and those of another seed, and stays as it is', () => {
    const { list } = listOf(['ann'])
    const before = list.toBytes()
    const stranger = listOf(['bob'], { seed: 'quite another secret seed' }).list.toBytes()
    for (const { what, bytes } of [...hostileBytes(before), { what: 'another seed', bytes: stranger }]) {
      for (const run of [() => list.load(bytes), () => list.merge(bytes)]) {
        expect({ what, code: codeOf(run) }).toEqual({
          what,
          code: expect.stringMatching(/^SLUICE_(BAD_BYTES|SKETCH_MISMATCH)$/),
        })
      }
    }
    expect(list.toBytes()).toEqual(before)
  })

  test.each([
    ['no options', undefined, 'SLUICE_BAD_OPTION'],
    ['no exact stage', { capacity: 10 }, 'SLUICE_BAD_OPTION'],
    ['an exact stage that is a set', { capacity: 10, exact: new Set() }, 'SLUICE_BAD_OPTION'],
    ['no capacity', { exact: () => true }, 'SLUICE_BAD_OPTION'],
    ['a rate of 2', { capacity: 10, exact: () => true, errorRate: 2 }, 'SLUICE_BAD_OPTION'],
    ['a rule of limiters', { capacity: 10, exact: () => true, onError: 'allow' }, 'SLUICE_BAD_OPTION'],
    ['an empty name', { capacity: 10, exact: () => true, name: '' }, 'SLUICE_BAD_OPTION'],
    ['a deadline of 0', { capacity: 10, exact: () => true, deadlineMs: 0 }, 'SLUICE_BAD_DURATION'],
    ['a deadline of 2 minutes', { capacity: 10, exact: () => true, deadlineMs: '2m' }, 'SLUICE_BAD_DURATION'],
    ['a memory without a time', { capacity: 10, exact: () => true, remember: {} }, 'SLUICE_BAD_DURATION'],
    ['a memory of 0 ms', { capacity: 10, exact: () => true, remember: { forMs: 0 } }, 'SLUICE_BAD_OPTION'],
    ['a memory of no keys', { capacity: 10, exact: () => true, remember: { forMs: 9, keys: 0 } }, 'SLUICE_BAD_OPTION'],
    ['an unknown option', { capacity: 10, exact: () => true, kind: 'block' }, 'SLUICE_BAD_OPTION'],
    ['a clock that is none', { capacity: 10, exact: () => true, clock: {} }, 'SLUICE_BAD_OPTION'],
    ['observers that are none', { capacity: 10, exact: () => true, observers: {} }, 'SLUICE_BAD_OPTION'],
    ['a short seed', { capacity: 10, exact: () => true, seed: 'short' }, 'SLUICE_BAD_SEED'],
  ])('refuses %s', (_what, options, code) => {
    for (const list of [blockList, allowList]) expect(codeOf(() => list(options as never))).toBe(code)
  })
})

describe('a list that remembers', () => {
  test('asks once in the time that it was told, of those on it and of those who are not', () => {
    const clock = new FakeClock()
    const { list, asked } = listOf(['ann'], { clock, remember: { forMs: 1000 } })
    const stranger = takenForOne(listOf(['ann'], { capacity: 1, errorRate: 0.5 }).list)
    list.add(stranger)
    for (let n = 0; n < 5; n++) expect([list.has('ann'), list.has(stranger)]).toEqual([true, false])
    expect(asked).toEqual(['ann', stranger])
    expect(list.stats).toMatchObject({ asked: 10, positives: 10, falsePositives: 5, remembered: 8 })
    clock.advance(999)
    list.has('ann')
    expect(asked).toHaveLength(2)
    clock.advance(1)
    list.has('ann')
    expect(asked).toHaveLength(3)
  })

  test('remembers nothing unless told to', () => {
    const { list, asked } = listOf(['ann'])
    for (let n = 0; n < 3; n++) list.has('ann')
    expect(asked).toHaveLength(3)
  })

  test('asks anew about a key that was added since, also where a no was on its way', async () => {
    const users = new Set<string>()
    const answers: ((answer: boolean) => void)[] = []
    const exact = (): Promise<boolean> => new Promise((resolve) => answers.push(resolve))
    const list = blockList({ capacity: 10, exact, clock: new FakeClock(), remember: { forMs: '1h' } })
    list.add('ann')
    const before = list.has('ann')
    users.add('ann')
    list.add('ann')
    answers[0](false)
    expect(await before).toBe(false)
    const after = list.has('ann')
    answers[1](users.has('ann'))
    expect(await after).toBe(true)
    expect(list.has('ann')).toBe(true)
    expect(answers).toHaveLength(2)
  })

  test('forgets a no of a key that is added', () => {
    const users = ['ann']
    const { list } = listOf([], { exact: (key) => users.includes(key), remember: { forMs: '1h' } })
    list.add('bob')
    expect(list.has('bob')).toBe(false)
    users.push('bob')
    list.add('bob')
    expect(list.has('bob')).toBe(true)
  })

  test('forgets what it knows when told to, and when its filter changes', () => {
    const { list, asked } = listOf(['ann'], { remember: { forMs: '1h' } })
    const changes = [() => list.forgetAnswers(), () => list.load(list.toBytes()), () => list.merge(list.toBytes())]
    for (const change of changes) {
      list.has('ann')
      list.has('ann')
      change()
    }
    expect(asked).toHaveLength(3)
  })

  test('remembers no more keys than it was told, the oldest goes first, and no long ones', () => {
    const users = ['ann', 'bob', 'carl', 'x'.repeat(257)]
    const { list, asked } = listOf(users, { remember: { forMs: '1h', keys: 2 } })
    for (const key of users) list.has(key)
    for (const key of users) list.has(key)
    // ann is asked about again, in whose place bob goes, and so on
    expect(asked).toEqual([...users, ...users])
    list.has('bob')
    list.has('carl')
    list.has(users[3])
    expect(asked).toEqual([...users, ...users, users[3]])
  })
})
