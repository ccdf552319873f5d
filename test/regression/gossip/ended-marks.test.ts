import { expect, test } from '@jest/globals'
import { FoldMarks } from '../../../packages/gossip/src/counters/fold-marks.ts'

const bounds = { most: 1, leastMs: 0 }

test('a mark that ended in the log of a replica is not lost when that replica was itself taken over', () => {
  const marks = new FoldMarks(bounds)
  marks.add('gone', 'first', { clock: 7, bornAt: 0, at: 3 })
  expect(marks.add('first', 'second', { clock: 9, bornAt: 1, at: 1 })).toEqual([])
  expect(marks.isFolded('gone')).toBe(true)
  expect(marks.endedOf('gone')).toMatchObject({ clock: 7 })
})

test('a mark after the part of a log that was taken over is lost', () => {
  const marks = new FoldMarks(bounds)
  marks.add('gone', 'first', { clock: 7, bornAt: 0, at: 10 })
  expect(marks.add('first', 'second', { clock: 9, bornAt: 1, at: 1 })).toEqual(['gone'])
  expect(marks.isFolded('gone')).toBe(false)
})

test('10,000 ended marks are kept when more end at once', () => {
  const marks = new FoldMarks(bounds)
  for (let n = 0; n < 10_002; n++) marks.add(`gone-${n}`, 'first', { clock: 7, bornAt: n, at: n + 1 })
  expect(marks.add('first', 'second', { clock: 10_002, bornAt: 10_002, at: 1 })).toEqual([])
  expect(marks.isFolded('gone-1')).toBe(false)
  expect(marks.isFolded('gone-2')).toBe(true)
})
