import { describe, expect, test } from '@jest/globals'
import { CountMin, type CountMinOptions, CountRange, RedisBloomCountMin, type SketchKey } from '@sluice/sketches'
import { codeOf } from '../contract/sketch-contract.ts'

const seed = 'a seed of 16 bytes or more'
const options = { width: 8, depth: 2, seed }

describe('construction', () => {
  test.each<[unknown]>([
    [{ ...options, width: 0 }],
    [{ ...options, width: 1.5 }],
    [{ ...options, width: 2 ** 24 + 1 }],
    [{ ...options, width: Number.NaN }],
    [{ ...options, depth: 0 }],
    [{ ...options, depth: 33 }],
    [{ ...options, depth: '2' }],
    [{ ...options, cells: 64 }],
    [{ ...options, cells: null }],
    [{ ...options, conservative: 1 }],
    [{ ...options, shared: 'yes' }],
    [{ ...options, shared: true, conservative: true }],
    [{ width: 8, depth: 2, shared: true }],
    [{ ...options, seed: 7 }],
    [{ ...options, columns: 8 }],
    [{ width: 8 }],
    [null],
    [undefined],
  ])('rejects %p', (wrong) => {
    expect(codeOf(() => new CountMin(wrong as CountMinOptions))).toBe('SLUICE_BAD_OPTION')
  })

  test('explains why a shared sketch needs a long seed', () => {
    expect(() => new CountMin({ width: 8, depth: 2, shared: true })).toThrow(
      'threads share a sketch by an explicit seed',
    )
    expect(codeOf(() => new CountMin({ ...options, seed: 'short' }))).toBe('SLUICE_BAD_SEED')
  })

  test('from an error rate uses the size of the paper', () => {
    const sketch = CountMin.fromError(0.001, 0.01, { seed })
    expect([sketch.width, sketch.depth]).toEqual([2719, 5])
    expect(sketch.epsilon).toBeLessThanOrEqual(0.001)
    expect(sketch.delta).toBeLessThanOrEqual(0.01)
    expect(CountMin.fromError(0.01, 0.5, { seed, cells: 8, conservative: true })).toMatchObject({
      ...{ width: 272, depth: 1, cells: 8, conservative: true },
    })
  })

  test.each([0, 1, -1, 2, Number.NaN, '0.1', undefined])('from an error of %p is rejected', (wrong) => {
    expect(codeOf(() => CountMin.fromError(wrong as number, 0.1))).toBe('SLUICE_BAD_OPTION')
    expect(codeOf(() => CountMin.fromError(0.1, wrong as number))).toBe('SLUICE_BAD_OPTION')
    expect(codeOf(() => RedisBloomCountMin.fromError(wrong as number, 0.1))).toBe('SLUICE_BAD_OPTION')
    expect(codeOf(() => RedisBloomCountMin.fromError(0.1, wrong as number))).toBe('SLUICE_BAD_OPTION')
  })

  test('from an error that is too small is rejected before memory is allocated', () => {
    expect(codeOf(() => CountMin.fromError(1e-9, 0.1))).toBe('SLUICE_BAD_OPTION')
    expect(codeOf(() => new CountRange({ bits: 52, width: 2 ** 24, depth: 32 }))).toBe('SLUICE_BAD_OPTION')
  })
})

describe('an invalid amount', () => {
  const wrong = [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '1', null, 1n]

  test.each(wrong)('%p is rejected, and changes nothing', (amount) => {
    for (const shape of [{}, { shared: true }, { cells: 8 }, { conservative: true }] as const) {
      const sketch = new CountMin({ ...options, ...shape })
      sketch.add('a', 5)
      const before = sketch.toBytes()
      expect(codeOf(() => sketch.add('a', amount as number))).toBe('SLUICE_BAD_AMOUNT')
      if (!sketch.conservative) expect(codeOf(() => sketch.remove('a', amount as number))).toBe('SLUICE_BAD_AMOUNT')
      expect(sketch.toBytes()).toEqual(before)
    }
    const redis = new RedisBloomCountMin({ width: 8, depth: 2 })
    expect(codeOf(() => redis.add('a', amount as number))).toBe('SLUICE_BAD_AMOUNT')
    const range = new CountRange({ width: 8, depth: 2, seed })
    expect(codeOf(() => range.add(1, amount as number))).toBe('SLUICE_BAD_AMOUNT')
    expect([redis.total, range.total]).toEqual([0, 0])
  })
})

describe('remove', () => {
  test.each([false, true])('rejects more than the key can have been counted (shared: %s)', (shared) => {
    const sketch = new CountMin({ ...options, shared })
    sketch.add('a', 5)
    const before = sketch.toBytes()
    expect(codeOf(() => sketch.remove('a', 6))).toBe('SLUICE_BAD_AMOUNT')
    expect(sketch.toBytes()).toEqual(before)
    expect(sketch.remove('a', 5)).toBe(0)
    expect(codeOf(() => sketch.remove('a'))).toBe('SLUICE_BAD_AMOUNT')
  })

  test('rejects more than the total if the cells of a key are full', () => {
    const sketch = new CountMin({ ...options, cells: 8 })
    sketch.add('a', 300)
    expect(codeOf(() => sketch.remove('a', 301))).toBe('SLUICE_BAD_AMOUNT')
    expect([sketch.remove('a', 300), sketch.total]).toEqual([255, 0])
    expect(codeOf(() => sketch.remove('a'))).toBe('SLUICE_BAD_AMOUNT')
  })

  test('and negative weights are rejected by a conservative sketch', () => {
    const sketch = new CountMin({ ...options, conservative: true })
    sketch.add('a', 5)
    expect(codeOf(() => sketch.remove('a'))).toBe('SLUICE_SKETCH_UNSUPPORTED')
    expect(codeOf(() => sketch.merge(sketch, -1))).toBe('SLUICE_SKETCH_UNSUPPORTED')
    expect(sketch.estimate('a')).toBe(5)
  })
})

describe('every kind of key', () => {
  const strange = ['', '\0', '__proto__', '\ud800', '\udfff', 'x'.repeat(2 ** 20), -0, 2 ** 53, -(2 ** 53), 1.5]
  const rare: unknown[] = [Number.NaN, Number.POSITIVE_INFINITY, null, undefined, true, 7n, {}, new Uint8Array(9)]

  test('is counted separately', () => {
    const sketch = new CountMin({ width: 65_536, depth: 4, seed })
    const all = [...strange, ...rare] as SketchKey[]
    expect(all.map((key) => sketch.add(key, 3))).toEqual(all.map(() => 3))
    expect(sketch.estimate(0)).toBe(3)
    expect([sketch.estimate(7), sketch.estimate('7')]).toEqual([0, 3])
  })
})

describe('hostile bytes', () => {
  const bytes = new CountMin(options).toBytes()
  const changed = (change: (view: DataView) => void): Uint8Array => {
    const copy = bytes.slice()
    change(new DataView(copy.buffer))
    return copy
  }

  test.each<[string, (view: DataView) => void]>([
    ['cells that do not match the bits', (view) => view.setUint32(24, 12, true)],
    ['unknown flags', (view) => view.setUint32(28, 4, true)],
    ['the flag of shared memory', (view) => view.setUint32(28, 2, true)],
    ['an invalid total', (view) => view.setFloat64(32, Number.NaN, true)],
    ['a negative total', (view) => view.setFloat64(32, -1, true)],
    ['a fractional total', (view) => view.setFloat64(32, 0.5, true)],
  ])('are rejected: %s', (_, change) => {
    expect(codeOf(() => CountMin.fromBytes(changed(change), { seed }))).toBe('SLUICE_BAD_BYTES')
  })

  test('with an implausible total can still be merged', () => {
    const huge = CountMin.fromBytes(
      changed((view) => view.setFloat64(32, 1e300, true)),
      { seed },
    )
    for (const shared of [false, true]) {
      const sketch = new CountMin({ ...options, shared })
      sketch.merge(huge, 2 ** 30)
      expect([sketch.estimate('a'), sketch.total > 2 ** 60]).toEqual([0, true])
    }
  })

  test('are rejected under another seed, and in shared memory that does not contain a sketch', () => {
    expect(codeOf(() => CountMin.fromBytes(bytes))).toBe('SLUICE_SKETCH_MISMATCH')
    const memory = new SharedArrayBuffer(bytes.length)
    new Uint8Array(memory).set(bytes)
    expect(codeOf(() => CountMin.attach(memory, { seed }))).toBe('SLUICE_BAD_BYTES')
    expect(codeOf(() => CountMin.attach(new SharedArrayBuffer(8), { seed }))).toBe('SLUICE_BAD_BYTES')
    expect(codeOf(() => CountMin.attach(bytes.buffer as unknown as SharedArrayBuffer, { seed }))).toBe(
      'SLUICE_BAD_BYTES',
    )
    const { buffer } = new CountMin({ ...options, shared: true })
    expect(codeOf(() => CountMin.attach(buffer, { seed: 'the seed of somebody else' }))).toBe('SLUICE_SKETCH_MISMATCH')
    expect(codeOf(() => new CountMin(options).buffer)).toBe('SLUICE_SKETCH_UNSUPPORTED')
  })

  test('of a range counter with an invalid count are rejected', () => {
    const range = new CountRange({ bits: 4, width: 8, depth: 2, seed }).toBytes()
    new DataView(range.buffer).setFloat64(64 + 8, -1, true)
    expect(codeOf(() => CountRange.fromBytes(range, { seed }))).toBe('SLUICE_BAD_BYTES')
  })
})
