import { describe, expect, test } from '@jest/globals'
import { HyperLogLog, SketchSeed } from '@sluice/sketches'
import { baseSeed } from '@sluice/testkit'

type Key = (n: number, run: number) => string | number

/** Keys as they come in rows. The promise of the hash is about pairs of keys only; these are what could show it. */
const kinds: Readonly<Record<string, Key>> = {
  'random keys': (n, run) => `${Math.imul(n + 1, 0x9e3779b1) ^ Math.imul(run, 0x85ebca6b)}/${n}`,
  'numbers in a row': (n) => n,
  'numbers 65,536 apart': (n) => n * 65_536,
  'decimal text in a row': (n) => String(n),
  'addresses in a row': (n) => `10.${(n >>> 16) & 255}.${(n >>> 8) & 255}.${n & 255}`,
  'padded names in a row': (n) => `user-${String(n).padStart(6, '0')}`,
}

interface Trial {
  readonly precision: number
  readonly key: Key
  readonly runs: number
  readonly most: number
}

/** Relative errors under seeds in a row, in standard errors, at each power of ten. */
function errorsOf({ precision, key, runs, most }: Trial): Map<number, number[]> {
  const standard = 1.04 / Math.sqrt(2 ** precision)
  const errors = new Map<number, number[]>()
  for (let run = baseSeed(); run < baseSeed() + runs; run++) {
    const sketch = new HyperLogLog({ precision, seed: new SketchSeed(`the seed of run ${run}`) })
    let n = 0
    for (let size = 100; size <= most; size *= 10) {
      for (; n < size; n++) sketch.add(key(n, run))
      const error = (sketch.count() - size) / size / standard
      errors.set(size, [...(errors.get(size) ?? []), error])
    }
  }
  return errors
}

function meanSquare(errors: readonly number[]): number {
  return errors.reduce((sum, error) => sum + error * error, 0) / errors.length
}

describe('the error of HyperLogLog keeps to 1.04 / sqrt(m)', () => {
  // 120 runs: a mean square above 1.5, or one error in 720 above 4.5, has a chance below 1 in 10,000
  test.each(Object.keys(kinds))('over 120 seeds for %s', (kind) => {
    const errors = errorsOf({ precision: 10, key: kinds[kind], runs: 120, most: 10_000 })
    for (const [size, some] of errors) {
      const worst = Math.max(...some.map(Math.abs))
      const told = { seed: baseSeed(), size, meanSquare: meanSquare(some), worst }
      expect({ ...told, kept: told.meanSquare < 1.5 && worst < 4.5 }).toEqual({ ...told, kept: true })
    }
  })

  test('for a million addresses, and a million numbers, in a row', () => {
    for (const kind of ['addresses in a row', 'numbers in a row']) {
      const errors = errorsOf({ precision: 14, key: kinds[kind], runs: 2, most: 1_000_000 })
      for (const [size, some] of errors) {
        for (const error of some)
          expect({ kind, size, within: Math.abs(error) < 4.5 }).toEqual({ kind, size, within: true })
      }
    }
  })
})
