import { describe, expect, test } from '@jest/globals'
import { Leaderboard, type LeaderboardEntry, mergeTop } from '@sluice/counters'
import { baseSeed, eachSeed, numberOfRuns, type SeededRandom, seededRandom } from '@sluice/testkit'
import fc from 'fast-check'
import { codeOf } from '../../code-of.ts'

const LARGEST = Number.MAX_SAFE_INTEGER
const seeded = { seed: baseSeed() }

/** A slow and obviously correct model. */
function ranked(scores: ReadonlyMap<string, number>): readonly LeaderboardEntry[] {
  return [...scores]
    .map(([member, score]) => ({ member, score }))
    .sort((one, other) => other.score - one.score || (one.member < other.member ? -1 : 1))
}

function expectSame(board: Leaderboard, scores: ReadonlyMap<string, number>): void {
  const expected = ranked(scores)
  expect(board.size).toBe(scores.size)
  expect(board.top(Math.max(1, scores.size))).toEqual(expected)
  expect(board.top(3)).toEqual(expected.slice(0, 3))
  for (const [n, { member, score }] of expected.entries()) {
    if (board.rank(member) !== n + 1 || board.score(member) !== score)
      expect([member, board.rank(member)]).toEqual([member, n + 1])
  }
}

/** Applies one change to a board and its model. */
function change(board: Leaderboard, scores: Map<string, number>, random: SeededRandom, members: number): void {
  const member = `member ${random.whole(members)}`
  const score = random.whole(1_000) - 200
  const kind = random.whole(4)
  if (kind === 0) {
    board.set(member, score)
    scores.set(member, score)
  } else if (kind === 1) expect(board.delete(member)).toBe(scores.delete(member))
  else {
    const sum = (scores.get(member) ?? 0) + score
    expect(board.increment(member, score)).toBe(sum)
    scores.set(member, sum)
  }
}

describe('a Leaderboard', () => {
  test('is ordered by score, then by member', () => {
    const board = new Leaderboard()
    for (const [member, score] of [
      ['b', 5],
      ['a', 5],
      ['c', 9],
      ['d', -1],
    ] as const)
      board.set(member, score)
    board.increment('d', 10)
    expect(board.top().map(({ member, score }) => [member, score])).toEqual([
      ['c', 9],
      ['d', 9],
      ['a', 5],
      ['b', 5],
    ])
    expect(['c', 'd', 'a', 'b', 'nobody'].map((member) => board.rank(member))).toEqual([1, 2, 3, 4, undefined])
    expect([board.score('d'), board.score('nobody'), board.increment('new', 0), board.rank('new')]).toEqual([
      9,
      undefined,
      0,
      5,
    ])
  })

  test('answers like a sorted list of few members after each change', async () => {
    await eachSeed(5, (random) => {
      const [board, scores] = [new Leaderboard(), new Map<string, number>()]
      for (let step = 0; step < 200; step++) {
        change(board, scores, random, 10)
        expectSame(board, scores)
      }
    })
  })

  test('answers like a sorted list of many members, while it grows over many blocks and shrinks to zero', async () => {
    await eachSeed(2, (random) => {
      const [board, scores] = [new Leaderboard(), new Map<string, number>()]
      for (let step = 0; step < 20_000; step++) change(board, scores, random, 8_000)
      expectSame(board, scores)
      // inserted in random order, so at all positions; then the rest is removed from one end
      for (const member of [...scores.keys()]) {
        if (random.whole(4) === 0) continue
        board.delete(member)
        scores.delete(member)
      }
      expectSame(board, scores)
      for (const { member } of ranked(scores)) {
        expect(board.rank(member)).toBe(1)
        board.delete(member)
      }
      expectSame(board, new Map())
      expect([board.top(), board.increment('a', 3), board.rank('a')]).toEqual([[], 3, 1])
    })
  })

  test('adds the scores of another board', () => {
    const scores = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.integer({ min: -9, max: 9 }))
    fc.assert(
      fc.property(scores, scores, (one, other) => {
        const [board, added] = [one, other].map((from) => {
          const made = new Leaderboard()
          for (const [member, score] of Object.entries(from)) made.set(member, score)
          return made
        })
        board.merge(added)
        const sums = new Map(Object.entries(one))
        for (const [member, score] of Object.entries(other)) sums.set(member, (sums.get(member) ?? 0) + score)
        expectSame(board, sums)
      }),
      seeded,
    )
  })

  test('rejects bad input with an error code, and stays unchanged', () => {
    const [board, other] = [new Leaderboard(), new Leaderboard()]
    board.set('a', LARGEST)
    for (const [member, score] of [
      ['b', 1],
      ['a', 1],
    ] as const)
      other.set(member, score)
    for (const member of ['', 'x'.repeat(257), 1, undefined]) {
      expect(codeOf(() => board.increment(member as string))).toBe('SLUICE_BAD_COUNTER_ID')
      expect(codeOf(() => board.set(member as string, 1))).toBe('SLUICE_BAD_COUNTER_ID')
    }
    for (const score of [0.5, Number.NaN, 2 ** 53, '1', null]) {
      expect(codeOf(() => board.increment('a', score as number))).toBe('SLUICE_BAD_DELTA')
      expect(codeOf(() => board.set('a', score as number))).toBe('SLUICE_BAD_DELTA')
    }
    for (const k of [0, -1, 1.5, '1', Number.POSITIVE_INFINITY]) {
      expect(codeOf(() => board.top(k as number))).toBe('SLUICE_BAD_OPTION')
      expect(codeOf(() => mergeTop([], k as number))).toBe('SLUICE_BAD_OPTION')
    }
    expect(codeOf(() => board.increment('a'))).toBe('SLUICE_COUNTER_RANGE')
    expect(codeOf(() => board.merge(other))).toBe('SLUICE_COUNTER_RANGE')
    expect(codeOf(() => board.merge({} as Leaderboard))).toBe('SLUICE_BAD_MESSAGE')
    expect(board.top()).toEqual([{ member: 'a', score: LARGEST }])
  })
})

describe('mergeTop', () => {
  test('returns exactly the first members over all shards', async () => {
    await eachSeed(20, (random) => {
      const [whole, shards] = [new Leaderboard(), Array.from({ length: 8 }, () => new Leaderboard())]
      for (let n = 0; n < 300; n++) {
        // few scores, so that many are equal
        const [member, score] = [`member ${n}`, random.whole(40)]
        whole.set(member, score)
        random.pick(shards).set(member, score)
      }
      for (const k of [1, 10, 100, 1_000]) {
        expect(
          mergeTop(
            shards.map((shard) => shard.top(k)),
            k,
          ),
        ).toEqual(whole.top(k))
      }
    })
  })

  test('rejects invalid lists of shards with an error code', () => {
    const entry = { member: 'a', score: 1 }
    for (const lists of [
      null,
      1,
      'text',
      {},
      [entry],
      [[1]],
      [[{ member: 'a' }]],
      [[{ ...entry, score: 0.5 }]],
      [[entry], [entry]],
    ]) {
      expect(codeOf(() => mergeTop(lists as never, 1))).toBe('SLUICE_BAD_MESSAGE')
    }
    expect([mergeTop([]), mergeTop([[], []])]).toEqual([[], []])
  })

  test('returns the first 100 of up to a million members in 8 shards within 5 ms', () => {
    const random = seededRandom(baseSeed())
    const members = numberOfRuns(1_000_000)
    const shards = Array.from({ length: 8 }, () => new Leaderboard())
    const addedAt = performance.now()
    for (let n = 0; n < members; n++) shards[n % 8].set(`player ${n}`, random.whole(1e9))
    const added = performance.now() - addedAt
    const times = Array.from({ length: 21 }, () => {
      const requestedAt = performance.now()
      expect(
        mergeTop(
          shards.map((shard) => shard.top(100)),
          100,
        ).length,
      ).toBe(100)
      return performance.now() - requestedAt
    }).sort((one, other) => one - other)
    const text = `first 100 of ${members} in 8 shards: median ${times[10].toFixed(2)} ms, slowest ${times[20].toFixed(2)} ms`
    process.stdout.write(`${text}; ${(added / 1_000).toFixed(2)} µs to add one\n`)
    expect(times[10]).toBeLessThan(5)
  }, 120_000)
})
