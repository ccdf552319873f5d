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

/** A list of `users`, and the keys that its exact stage was called with. */
function listOf(users: readonly string[], options: Partial<KeyListOptions> = {}) {
  const exactCalls: string[] = []
  const exact = (key: string): boolean => {
    exactCalls.push(key)
    return users.includes(key)
  }
  const list = blockList({ capacity: 1000, seed, exact, clock: new FakeClock(), ...options })
  list.addAll(users)
  return { list, exactCalls }
}

/** The first user that is not on `list` but is reported as present by its filter. */
function takenForOne(list: KeyList): string {
  for (let n = 0; ; n++) {
    const { positives } = list.stats
    list.has(`stranger ${n}`)
    if (list.stats.positives > positives) return `stranger ${n}`
  }
}

describe('a key list', () => {
  test('returns false for absent keys synchronously, without calling the exact stage', () => {
    const { list, exactCalls } = listOf(['ann', 'bob'])
    expect([list.has('carl'), list.has(''), list.has('Ann')]).toEqual([false, false, false])
    expect(exactCalls).toEqual([])
    expect(list.stats).toEqual({
      asked: 3,
      passedByFilter: 3,
      positives: 0,
      falsePositives: 0,
      remembered: 0,
      ruled: 0,
    })
  })

  test('calls the exact stage for present keys, and answers synchronously if the exact stage does', () => {
    const { list, exactCalls } = listOf(['ann', 'bob'])
    expect([list.has('ann'), list.has('bob')]).toEqual([true, true])
    expect(exactCalls).toEqual(['ann', 'bob'])
    expect(list.stats).toMatchObject({ asked: 2, passedByFilter: 0, positives: 2, falsePositives: 0 })
  })

  test('follows the exact stage, even for a key that was removed from the list', async () => {
    const users = new Set(['ann'])
    const list = allowList({ capacity: 10, exact: async (key) => users.has(key) })
    list.addAll(users)
    expect(await list.has('ann')).toBe(true)
    users.delete('ann')
    expect(await list.has('ann')).toBe(false)
    expect(list.stats).toMatchObject({ asked: 2, positives: 2, falsePositives: 1 })
  })

  test('never reports an added key as absent without the exact stage, whatever the key', async () => {
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

  test.each(hostileKeys.map((key) => [key]))('handles %j like any other key', (key) => {
    const { list } = listOf([key])
    expect(list.has(key)).toBe(true)
    expect(list.has(`${key} `)).toBe(false)
  })

  test('treats a number like its text', () => {
    const { list } = listOf(['7'])
    expect([list.has(7), list.has(7n), list.has('7'), list.has('07')]).toEqual([true, true, true, false])
  })

  test.each([[undefined], [null], [{}], [['ann']], [Symbol('ann')], [Object.create(null)], [true]])(
    'returns false for %p, which is not a key, and does not add it',
    (key) => {
      const { list } = listOf(['ann', 'undefined', 'null', '[object Object]', 'true'])
      expect(list.has(key as never)).toBe(false)
      expect(codeOf(() => list.add(key as never))).toBe('SLUICE_BAD_KEY')
    },
  )

  test('calls the exact stage for only a few absent keys', () => {
    const users = Array.from({ length: 1000 }, (_, n) => `user ${n}`)
    const { list, exactCalls } = listOf(users)
    for (let n = 0; n < 20_000; n++) expect(list.has(`stranger ${n}`)).toBe(false)
    expect(exactCalls.length).toBeLessThan(20_000 * 0.01 + 3 * Math.sqrt(200))
    expect(list.stats).toMatchObject({ asked: 20_000, falsePositives: exactCalls.length, positives: exactCalls.length })
    expect(list.falsePositiveRate).toBeLessThan(0.012)
    expect(Math.abs(list.size - 1000)).toBeLessThan(30)
    expect(list.bytes).toBe(list.toBytes().length)
  })

  test('adds the rows of a database one by one', async () => {
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

  test('keeps the added rows if the source fails, and reports the error', async () => {
    const list = blockList({ capacity: 100, exact: () => true })
    async function* rows(): AsyncGenerator<string> {
      yield 'ann'
      throw new Error('the connection is gone')
    }
    await expect(list.addAll(rows())).rejects.toThrow('the connection is gone')
    expect(list.has('ann')).toBe(true)
  })

  test.each([['ann'], [undefined], [null], [7]])('does not accept %p as many keys', (keys) => {
    const { list } = listOf([])
    expect(codeOf(() => list.addAll(keys as never))).toBe('SLUICE_BAD_KEY')
    expect(list.has('a')).toBe(false)
  })

  test('keeps pairs apart that would be equal when concatenated', () => {
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

  test('writes its filter, and another list with the same seed can load or merge it', () => {
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

  test('loads a filter of another size, but does not merge it', () => {
    const large = listOf(['ann'], { capacity: 100_000 }).list
    const { list } = listOf(['carl'])
    expect(codeOf(() => list.merge(large.toBytes()))).toBe('SLUICE_SKETCH_MISMATCH')
    list.load(large.toBytes())
    expect(list.bytes).toBe(large.bytes)
  })

  test('rejects hostile bytes and bytes of another seed, and stays unchanged', () => {
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
    ['a memory of 0 ms', { capacity: 10, exact: () => true, remember: { ttlMs: 0 } }, 'SLUICE_BAD_OPTION'],
    [
      'a memory without keys',
      { capacity: 10, exact: () => true, remember: { ttlMs: 9, keys: 0 } },
      'SLUICE_BAD_OPTION',
    ],
    ['an unknown option', { capacity: 10, exact: () => true, kind: 'block' }, 'SLUICE_BAD_OPTION'],
    ['an invalid clock', { capacity: 10, exact: () => true, clock: {} }, 'SLUICE_BAD_OPTION'],
    ['invalid observers', { capacity: 10, exact: () => true, observers: {} }, 'SLUICE_BAD_OPTION'],
    ['a short seed', { capacity: 10, exact: () => true, seed: 'short' }, 'SLUICE_BAD_SEED'],
  ])('rejects %s', (_what, options, code) => {
    for (const list of [blockList, allowList]) expect(codeOf(() => list(options as never))).toBe(code)
  })
})

describe('a list with the remember option', () => {
  test('calls the exact stage once within the configured time, for present and absent keys', () => {
    const clock = new FakeClock()
    const { list, exactCalls } = listOf(['ann'], { clock, remember: { ttlMs: 1000 } })
    const stranger = takenForOne(listOf(['ann'], { capacity: 1, errorRate: 0.5 }).list)
    list.add(stranger)
    for (let n = 0; n < 5; n++) expect([list.has('ann'), list.has(stranger)]).toEqual([true, false])
    expect(exactCalls).toEqual(['ann', stranger])
    expect(list.stats).toMatchObject({ asked: 10, positives: 10, falsePositives: 5, remembered: 8 })
    clock.advance(999)
    list.has('ann')
    expect(exactCalls).toHaveLength(2)
    clock.advance(1)
    list.has('ann')
    expect(exactCalls).toHaveLength(3)
  })

  test('remembers nothing by default', () => {
    const { list, exactCalls } = listOf(['ann'])
    for (let n = 0; n < 3; n++) list.has('ann')
    expect(exactCalls).toHaveLength(3)
  })

  test('calls the exact stage again for a key that was added since, even if a negative answer was pending', async () => {
    const users = new Set<string>()
    const answers: ((answer: boolean) => void)[] = []
    const exact = (): Promise<boolean> => new Promise((resolve) => answers.push(resolve))
    const list = blockList({ capacity: 10, exact, clock: new FakeClock(), remember: { ttlMs: '1h' } })
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

  test('forgets a negative answer of a key that is added', () => {
    const users = ['ann']
    const { list } = listOf([], { exact: (key) => users.includes(key), remember: { ttlMs: '1h' } })
    list.add('bob')
    expect(list.has('bob')).toBe(false)
    users.push('bob')
    list.add('bob')
    expect(list.has('bob')).toBe(true)
  })

  test('forgets all answers on request, and when its filter changes', () => {
    const { list, exactCalls } = listOf(['ann'], { remember: { ttlMs: '1h' } })
    const changes = [() => list.forgetAnswers(), () => list.load(list.toBytes()), () => list.merge(list.toBytes())]
    for (const change of changes) {
      list.has('ann')
      list.has('ann')
      change()
    }
    expect(exactCalls).toHaveLength(3)
  })

  test('remembers at most the configured number of keys, drops the oldest first, and does not remember long keys', () => {
    const users = ['ann', 'bob', 'carl', 'x'.repeat(257)]
    const { list, exactCalls } = listOf(users, { remember: { ttlMs: '1h', keys: 2 } })
    for (const key of users) list.has(key)
    for (const key of users) list.has(key)
    // the answer for ann has been replaced by the answer for bob, so the exact stage is called again, and so on
    expect(exactCalls).toEqual([...users, ...users])
    list.has('bob')
    list.has('carl')
    list.has(users[3])
    expect(exactCalls).toEqual([...users, ...users, users[3]])
  })
})
