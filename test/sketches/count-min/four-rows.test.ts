import { describe, expect, test } from '@jest/globals'
import { type CellBits, CountMin, Estimator, SketchSeed } from '@sluice/sketches'
import { eachSeed, type SeededRandom } from '@sluice/testkit'

// Four rows of a power of two have code of their own: here their cells are counted by the words of the documentation
const WIDTH = 8
const HEADER_BYTES = 64
const seed = new SketchSeed('the seed of four rows')
const keys = ['red', 'blue', 'green', '', 'naïve', '\ud800', 'x'.repeat(700), 7, -1, 2 ** 40, 'one more']

/** The cells that `key` has: row i has the i-th 16 bits of the hash, the low ones first. */
function cellsOf(key: string | number): number[] {
  const { low, high } = seed.hashOf(key)
  return [low, low >>> 16, high, high >>> 16].map((bits, row) => row * WIDTH + (bits & (WIDTH - 1)))
}

/** Small ones, what fills a cell of 8, 16 or 32 bits to the brim and past it, and what fits none. */
function drawAmount(random: SeededRandom): number {
  const edge = [0, 1, 250, 255, 256, 65_530, 65_535, 65_536, 2 ** 31 - 2, 2 ** 31, 2 ** 32 - 2, 2 ** 32, 2 ** 53 - 1]
  return random.whole(3) > 0 ? random.whole(4) : edge[random.whole(edge.length)]
}

interface Counting {
  readonly full: number
  readonly conservative?: boolean
  readonly add: (key: string | number, amount: number) => number
  readonly cells: () => ArrayLike<number>
}

function compare(random: SeededRandom, { full, conservative = false, add, cells }: Counting): void {
  const counted = new Array<number>(4 * WIDTH).fill(0)
  for (let n = 0; n < 300; n++) {
    const key = keys[random.whole(keys.length)]
    const amount = drawAmount(random)
    const at = cellsOf(key)
    const least = Math.min(...at.map((i) => counted[i]))
    for (const i of at) {
      counted[i] = Math.min(full, conservative ? Math.max(counted[i], least + amount) : counted[i] + amount)
    }
    expect(add(key, amount)).toBe(Math.min(...at.map((i) => counted[i])))
  }
  expect(Array.from(cells())).toEqual(counted)
}

const ARRAYS = { 8: Uint8Array, 16: Uint16Array, 32: Uint32Array }

describe('four rows of a power of two', () => {
  describe.each<CellBits>([8, 16, 32])('of %i bits', (bits) => {
    test.each([false, true])(
      'count each key in its four cells, up to what a cell holds (conservative: %s)',
      async (kind) => {
        await eachSeed(20, (random) => {
          const sketch = new CountMin({ width: WIDTH, depth: 4, cells: bits, conservative: kind, seed })
          compare(random, {
            full: 2 ** bits - 1,
            conservative: kind,
            add: (key, amount) => (amount === 1 ? sketch.add(key) : sketch.add(key, amount)),
            cells: () => new ARRAYS[bits](Uint8Array.from(sketch.toBytes()).buffer, HEADER_BYTES),
          })
        })
      },
    )
  })

  test('of an Estimator count each key in its four cells, up to 2^31 - 1', async () => {
    await eachSeed(20, (random) => {
      const estimator = new Estimator({ slots: WIDTH, rows: 4, seed })
      compare(random, {
        full: 2 ** 31 - 1,
        add: (key, amount) => estimator.incr(key, amount),
        cells: () => new Int32Array(Uint8Array.from(estimator.toBytes()).buffer, HEADER_BYTES),
      })
    })
  })
})
