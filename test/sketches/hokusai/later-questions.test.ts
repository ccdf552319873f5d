import { expect, test } from '@jest/globals'
import { Hokusai, HokusaiTime } from '@sluice/sketches'
import { eachSeed, type SeededRandom } from '@sluice/testkit'

const seed = Buffer.alloc(16, 'later')
/** Includes amounts of which two or more fill a cell. */
const AMOUNTS = [1, 1, 2, 5, 100, 2 ** 31, 2 ** 32 - 1]

interface Scene {
  readonly sketch: HokusaiTime
  readonly unitMs: number
  readonly retainMs: number
  readonly now: number
}

/** A sketch in which keys share cells, some of them full. */
function counted(random: SeededRandom): Scene {
  const unitMs = random.pick([1, 7, 10])
  const retainMs = unitMs * (1 + random.whole(60))
  const blocksPerLevel = 1 + random.whole(4)
  const sketch = new HokusaiTime({ width: 4, depth: 3, seed, unitMs, retainMs, blocksPerLevel })
  let now = random.whole(40) * unitMs
  for (let event = random.whole(60); event > 0; event--) {
    now += random.whole(3 * unitMs)
    sketch.add(random.whole(9), random.pick(random.whole(4) === 0 ? AMOUNTS : [1, 2, 3]), now)
  }
  return { sketch, unitMs, retainMs, now }
}

test('a query for a later time changes nothing, and is answered as if the time had advanced', () =>
  eachSeed(300, (random) => {
    const { sketch, unitMs, retainMs, now } = counted(random)
    const before = sketch.toBytes()
    for (let question = 0; question < 10; question++) {
      const later =
        now + random.pick([random.whole(4), random.whole(80), random.whole(5_000)]) * random.pick([1, unitMs])
      const copy = HokusaiTime.fromBytes(before, { seed })
      copy.advance(later)
      const key = random.whole(12)
      const windowMs = 1 + random.whole(retainMs)
      const most = random.whole(20)
      const partial = random.pick(['whole', 'weighted', 'none'] as const)
      const units = random.whole(70)
      const asked = [sketch, copy].map((one) => {
        const parts = new Float64Array(2 * one.maxParts)
        one.aim(key)
        return {
          window: one.aimedWindow(windowMs, later),
          waitMs: one.aimedWaitMs(most, windowMs, later),
          written: one.aimedParts(parts, later),
          parts: [...parts],
          fromMs: one.partsFromMs(later),
          last: one.last(key, units, later, partial),
        }
      })
      expect(asked[0]).toEqual(asked[1])
    }
    expect(Buffer.compare(sketch.toBytes(), before)).toBe(0)
  }))

test('the same holds for time and item aggregation together', () =>
  eachSeed(50, (random) => {
    const sketch = new Hokusai({ width: 32, depth: 3, seed, unitMs: 5, retainMs: 80 })
    let now = 0
    for (let event = 0; event < 40; event++) {
      now += random.whole(9)
      sketch.add(random.whole(9), 1 + random.whole(4), now)
    }
    const before = sketch.toBytes()
    const later = now + random.whole(100)
    const copy = Hokusai.fromBytes(before, { seed })
    copy.advance(later)
    for (let key = 0; key < 9; key++) {
      const units = random.whole(20)
      expect(sketch.last(key, units, later)).toBe(copy.last(key, units, later))
    }
    expect(Buffer.compare(sketch.toBytes(), before)).toBe(0)
  }))
