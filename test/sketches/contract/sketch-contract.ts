import { describe, expect, test } from '@jest/globals'
import type { Sketch } from '@sluice/sketches'
import fc from 'fast-check'
import { hostileBytes } from './hostile-bytes.ts'

/** One thing that happens to a sketch. `amount`: 1 to 9, for those that weigh. */
export interface SketchEvent {
  readonly key: string
  readonly amount: number
}

/** A member of the family, made small enough that its cells collide. */
export interface SketchSubject<S extends Sketch<S>> {
  /** A new one. All of them have one shape and one seed. */
  make(): S
  /** Others with which it must not be merged: of another shape, of another seed. */
  readonly strangers: readonly (() => S)[]
  feed(sketch: S, event: SketchEvent): void
  fromBytes(bytes: Uint8Array): S
  /** All that can be asked of it, as plain values. */
  answers(sketch: S): unknown
  /** Merging two is one that was fed both streams, to the bit. Without it only what is told here holds. */
  readonly mergesExactly: boolean
  /** Merging the same one twice is merging it once. */
  readonly idempotent: boolean
  /** What a merge in another order may change: `answers` unless said. */
  laxly?(sketch: S): unknown
}

const keys = fc.constantFrom('red', 'blue', 'green', '', '__proto__', 'naïve', '\ud800', 'x'.repeat(700))
const events = fc.array(
  fc.record({ key: fc.oneof(keys, fc.string({ maxLength: 20 })), amount: fc.integer({ min: 1, max: 9 }) }),
  {
    maxLength: 60,
  },
)

/** What every sketch keeps. */
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
  const laxly = (sketch: S): unknown => (subject.laxly ?? subject.answers)(sketch)

  describe(`${name} keeps the contract of sketches`, () => {
    test('is read back from its bytes as it was, and goes on as it would have', () => {
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

    test('hands out bytes that are its own no more', () => {
      const sketch = fed([{ key: 'red', amount: 3 }])
      const before = subject.answers(sketch)
      sketch.toBytes().fill(0xff)
      expect(subject.answers(sketch)).toEqual(before)
    })

    test('is read from a Buffer within a larger one, and keeps nothing of it', () => {
      const sketch = fed([{ key: 'red', amount: 3 }])
      const bytes = sketch.toBytes()
      const whole = Buffer.alloc(bytes.length + 16)
      whole.set(bytes, 8)
      const read = subject.fromBytes(whole.subarray(8, 8 + bytes.length))
      whole.fill(0xff)
      expect(subject.answers(read)).toEqual(subject.answers(sketch))
    })

    test('is as good as new once it is cleared', () => {
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
          expect(laxly(merged(y, x))).toEqual(laxly(merged(x, y)))
          expect(laxly(merged(x, merged(y, z)))).toEqual(laxly(merged(merged(x, y), z)))
        }),
      )
    })

    test('leaves what it merges as it was, also itself', () => {
      fc.assert(
        fc.property(events, events, (a, b) => {
          const [x, y] = [fed(a), fed(b)]
          const before = y.toBytes()
          x.merge(y)
          expect(y.toBytes()).toEqual(before)
          expect(laxly(merged(y))).toEqual(laxly(y))
        }),
      )
    })

    if (subject.mergesExactly) {
      test('merging is one sketch that was fed both streams', () => {
        fc.assert(
          fc.property(events, events, (a, b) => {
            expect(merged(fed(a), fed(b)).toBytes()).toEqual(fed(a, b).toBytes())
          }),
        )
      })
    }

    if (subject.idempotent) {
      test('merging one twice is merging it once', () => {
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

    test('refuses to merge what is another, and stays as it is', () => {
      for (const stranger of subject.strangers) {
        const sketch = fed([{ key: 'red', amount: 2 }])
        const before = sketch.toBytes()
        expect(codeOf(() => sketch.merge(stranger()))).toBe('SLUICE_SKETCH_MISMATCH')
        expect(sketch.toBytes()).toEqual(before)
      }
    })

    test('refuses hostile bytes by a code, before it takes memory for them', () => {
      const honest = fed(Array.from({ length: 40 }, (_, n) => ({ key: `key ${n}`, amount: 1 + (n % 9) }))).toBytes()
      for (const { what, bytes } of hostileBytes(honest)) {
        expect({ what, code: codeOf(() => subject.fromBytes(bytes)) }).toEqual({
          what,
          code: expect.stringMatching(/^SLUICE_(BAD_BYTES|SKETCH_MISMATCH)$/),
        })
      }
    })

    test('reads whatever bit is turned, or refuses: it never answers with another error, nor hangs', () => {
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

/** The code of what `run` throws; `nothing`, or what it threw where it has no code. */
export function codeOf(run: () => unknown): string {
  try {
    run()
    return 'nothing'
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  }
}
