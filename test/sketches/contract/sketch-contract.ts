import { describe, expect, test } from '@jest/globals'
import type { Sketch } from '@sluice/sketches'
import fc from 'fast-check'
import { hostileBytes } from './hostile-bytes.ts'

/** An event that a sketch counts. `amount`: 1 to 9, ignored by sketches without weights. */
export interface SketchEvent {
  readonly key: string
  readonly amount: number
}

/** A sketch class under test, configured so small that its cells collide. */
export interface SketchSubject<S extends Sketch<S>> {
  /** Creates an empty sketch. All of them have the same shape and seed. */
  make(): S
  /** Create sketches that must not be merged with it: of another shape, of another seed. */
  readonly strangers: readonly (() => S)[]
  feed(sketch: S, event: SketchEvent): void
  fromBytes(bytes: Uint8Array): S
  /** Returns the answers to all queries, as plain values. */
  answers(sketch: S): unknown
  /** Whether merging two sketches equals one sketch that was fed both streams, to the bit. */
  readonly mergesExactly: boolean
  /** Whether merging the same sketch twice equals merging it once. */
  readonly idempotent: boolean
  /** Returns the answers that a merge in another order may change. Default: `answers`. */
  looseAnswers?(sketch: S): unknown
}

const keys = fc.constantFrom('red', 'blue', 'green', '', '__proto__', 'naïve', '\ud800', 'x'.repeat(700))
const events = fc.array(
  fc.record({ key: fc.oneof(keys, fc.string({ maxLength: 20 })), amount: fc.integer({ min: 1, max: 9 }) }),
  {
    maxLength: 60,
  },
)

/** Claims that every sketch must fulfil. */
export function sketchContract<S extends Sketch<S>>(name: string, subject: SketchSubject<S>): void {
  const fed = (...streams: readonly (readonly SketchEvent[])[]): S => {
    const sketch = subject.make()
    for (const event of streams.flat()) subject.feed(sketch, event)
    return sketch
  }
  const merged = (...parts: readonly S[]): S => {
    const sketch = subject.make()
    for (const part of parts) sketch.merge(part)
    return sketch
  }
  const looseAnswers = (sketch: S): unknown => (subject.looseAnswers ?? subject.answers)(sketch)

  describe(`${name} fulfils the sketch contract`, () => {
    test('is restored from its bytes and continues like the original', () => {
      fc.assert(
        fc.property(events, events, (before, after) => {
          const sketch = fed(before)
          const copy = subject.fromBytes(sketch.toBytes())
          expect(subject.answers(copy)).toEqual(subject.answers(sketch))
          expect(copy.toBytes()).toEqual(sketch.toBytes())
          for (const event of after) subject.feed(copy, event)
          expect(subject.answers(copy)).toEqual(subject.answers(fed(before, after)))
        }),
      )
    })

    test('returns bytes that are independent of the sketch', () => {
      const sketch = fed([{ key: 'red', amount: 3 }])
      const before = subject.answers(sketch)
      sketch.toBytes().fill(0xff)
      expect(subject.answers(sketch)).toEqual(before)
    })

    test('is read from a Buffer within a larger one, and copies the bytes', () => {
      const sketch = fed([{ key: 'red', amount: 3 }])
      const bytes = sketch.toBytes()
      const whole = Buffer.alloc(bytes.length + 16)
      whole.set(bytes, 8)
      const read = subject.fromBytes(whole.subarray(8, 8 + bytes.length))
      whole.fill(0xff)
      expect(subject.answers(read)).toEqual(subject.answers(sketch))
    })

    test('equals a new sketch once it is cleared', () => {
      fc.assert(
        fc.property(events, events, (before, after) => {
          const sketch = fed(before)
          sketch.clear()
          expect(subject.answers(sketch)).toEqual(subject.answers(subject.make()))
          for (const event of after) subject.feed(sketch, event)
          expect(subject.answers(sketch)).toEqual(subject.answers(fed(after)))
        }),
      )
    })

    test('merges in any order', () => {
      fc.assert(
        fc.property(events, events, events, (a, b, c) => {
          const [x, y, z] = [fed(a), fed(b), fed(c)]
          expect(looseAnswers(merged(y, x))).toEqual(looseAnswers(merged(x, y)))
          expect(looseAnswers(merged(x, merged(y, z)))).toEqual(looseAnswers(merged(merged(x, y), z)))
        }),
      )
    })

    test('does not change the merged sketch, even when merging with itself', () => {
      fc.assert(
        fc.property(events, events, (a, b) => {
          const [x, y] = [fed(a), fed(b)]
          const before = y.toBytes()
          x.merge(y)
          expect(y.toBytes()).toEqual(before)
          expect(looseAnswers(merged(y))).toEqual(looseAnswers(y))
        }),
      )
    })

    if (subject.mergesExactly) {
      test('merging two sketches equals one sketch that was fed both streams', () => {
        fc.assert(
          fc.property(events, events, (a, b) => {
            expect(merged(fed(a), fed(b)).toBytes()).toEqual(fed(a, b).toBytes())
          }),
        )
      })
    }

    if (subject.idempotent) {
      test('merging a sketch twice equals merging it once', () => {
        fc.assert(
          fc.property(events, events, (a, b) => {
            const [x, y] = [fed(a), fed(b)]
            expect(merged(x, y, y, x).toBytes()).toEqual(merged(x, y).toBytes())
            x.merge(x)
            expect(x.toBytes()).toEqual(fed(a).toBytes())
          }),
        )
      })
    }

    test('rejects merging an incompatible sketch, and stays unchanged', () => {
      for (const stranger of subject.strangers) {
        const sketch = fed([{ key: 'red', amount: 2 }])
        const before = sketch.toBytes()
        expect(codeOf(() => sketch.merge(stranger()))).toBe('SLUICE_SKETCH_MISMATCH')
        expect(sketch.toBytes()).toEqual(before)
      }
    })

    test('rejects hostile bytes with an error code, before it allocates memory', () => {
      const honest = fed(Array.from({ length: 40 }, (_, n) => ({ key: `key ${n}`, amount: 1 + (n % 9) }))).toBytes()
      for (const { what, bytes } of hostileBytes(honest)) {
        expect({ what, code: codeOf(() => subject.fromBytes(bytes)) }).toEqual({
          what,
          code: expect.stringMatching(/^SLUICE_(BAD_BYTES|SKETCH_MISMATCH)$/),
        })
      }
    })

    test('reads bytes with any flipped bit or rejects them with an error code, and never hangs', () => {
      const honest = fed(Array.from({ length: 40 }, (_, n) => ({ key: `key ${n}`, amount: 1 + (n % 9) }))).toBytes()
      fc.assert(
        fc.property(
          fc.array(fc.tuple(fc.nat(honest.length - 1), fc.integer({ min: 1, max: 255 })), {
            minLength: 1,
            maxLength: 8,
          }),
          (turned) => {
            const bytes = honest.slice()
            for (const [at, bits] of turned) bytes[at] ^= bits
            const code = codeOf(() => {
              const read = subject.fromBytes(bytes)
              subject.answers(read)
              subject.feed(read, { key: 'red', amount: 1 })
              subject.make().merge(read)
            })
            expect(code).toMatch(/^(nothing|SLUICE_BAD_BYTES|SLUICE_SKETCH_MISMATCH)$/)
          },
        ),
        { numRuns: 300 },
      )
    })
  })
}

/** Returns the code of the error that `run` throws, the error itself if it has no code, or `nothing`. */
export function codeOf(run: () => unknown): string {
  try {
    run()
    return 'nothing'
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  }
}
