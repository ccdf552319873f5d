import { describe, expect, test } from '@jest/globals'
import { type CellBits, CountMin, Estimator, SketchSeed } from '@sluice/sketches'
import { eachSeed, type SeededRandom } from '@sluice/testkit'

// Sketches with four rows of a power of two have specialized code. These tests compute their cells as the documentation
// describes.
const WIDTH = 8
const HEADER_BYTES = 64
const seed = new SketchSeed('the seed of four rows')
const keys = ['red', 'blue', 'green', '', 'naïve', '\ud800', 'x'.repeat(700), 7, -1, 2 ** 40, 'one more']

/** The cells of `key`: row i uses the i-th 16 bits of the hash, the low ones first. */
function cellsOf(key: string | number): number[] {
  const { low, high } = seed.hashOf(key)
  return [low, low >>> 16, high, high >>> 16].map((bits, row) => row * WIDTH + (bits & (WIDTH - 1)))
}

/**
 * Draws small amounts, amounts that fill a cell of 8, 16 or 32 bits exactly or overflow it, and amounts that fit into
 * no cell.
 */
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
  describe.each<CellBits>([8, 16, 32])('with cells of %i bits', (bits) => {
    test.each([false, true])(
      'count each key in its four cells, up to the cell maximum (conservative: %s)',
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
