import { expect, test } from '@jest/globals'
import { baseSeed, numberOfRuns, seededRandom } from '@sluice/testkit'
import { capacityOf, KIB } from './scene.ts'

const seed = baseSeed()
const random = seededRandom(seed)
const hex = () => random.whole(0x10000).toString(16)

const shapes: Readonly<Record<string, (index: number) => string>> = {
  'numbers in a row': (index) => String(index),
  'users in a row': (index) => `user:${String(index).padStart(8, '0')}`,
  'random text': () => `${random.next()}`,
  'IPv4 in a row': (index) => `203.0.${index >> 8}.${index & 255}`,
  'IPv6 /56 in a row': (index) => `2001:db8:${(index >> 8).toString(16)}:${((index & 255) << 8).toString(16)}::/56`,
  'random IPv6 /56': () => `2001:${hex()}:${hex()}:${hex()}::/56`,
  'one long text, one character': (index) => `${'x'.repeat(300)}${String.fromCharCode(index)}${'y'.repeat(300)}`,
}

// the first eviction depends on chance: on one unlucky pair of sets
const RUNS = numberOfRuns(40)

function fill(keyOf: (index: number) => string): number {
  let keys = 0
  for (let run = 0; run < RUNS; run++) {
    keys += capacityOf({ algorithm: 'gcra', limit: 1_000, window: '1h' }, 64 * KIB, keyOf)
  }
  return keys / RUNS
}

test(`keys of every shape fill the table equally before the first eviction (seed ${seed})`, () => {
  const filled = Object.fromEntries(Object.entries(shapes).map(([shape, keyOf]) => [shape, fill(keyOf)]))
  const counts = Object.values(filled)
  expect(Math.max(...counts) / Math.min(...counts)).toBeLessThan(1.1)
})
