import { describe, expect, test } from '@jest/globals'
import { HyperLogLog, SketchSeed } from '@sluice/sketches'
import { baseSeed } from '@sluice/testkit'

type Key = (n: number, run: number) => string | number

/** Sets of similar keys. The hash only promises something about pairs of keys; such sets could reveal a weakness. */
const kinds: Readonly<Record<string, Key>> = {
  'random keys': (n, run) => `${Math.imul(n + 1, 0x9e3779b1) ^ Math.imul(run, 0x85ebca6b)}/${n}`,
  'consecutive numbers': (n) => n,
  'numbers 65,536 apart': (n) => n * 65_536,
  'consecutive decimal texts': (n) => String(n),
  'consecutive addresses': (n) => `10.${(n >>> 16) & 255}.${(n >>> 8) & 255}.${n & 255}`,
  'consecutive padded names': (n) => `user-${String(n).padStart(6, '0')}`,
}

interface Trial {
  readonly precision: number
  readonly key: Key
  readonly runs: number
  readonly most: number
}

/** Relative errors under consecutive seeds, in standard errors, at each power of ten. */
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

describe('the error of HyperLogLog is within 1.04 / sqrt(m)', () => {
  // 120 runs: a mean square above 1.5, or one error in 720 above 4.5, has a chance below 1 in 10,000
  test.each(Object.keys(kinds))('over 120 seeds for %s', (kind) => {
    const errors = errorsOf({ precision: 10, key: kinds[kind], runs: 120, most: 10_000 })
    for (const [size, some] of errors) {
      const worst = Math.max(...some.map(Math.abs))
      const told = { seed: baseSeed(), size, meanSquare: meanSquare(some), worst }
      expect({ ...told, kept: told.meanSquare < 1.5 && worst < 4.5 }).toEqual({ ...told, kept: true })
    }
  })

  test('for a million consecutive addresses and numbers', () => {
    for (const kind of ['consecutive addresses', 'consecutive numbers']) {
      const errors = errorsOf({ precision: 14, key: kinds[kind], runs: 2, most: 1_000_000 })
      for (const [size, some] of errors) {
        for (const error of some)
          expect({ kind, size, within: Math.abs(error) < 4.5 }).toEqual({ kind, size, within: true })
      }
    }
  })
})
