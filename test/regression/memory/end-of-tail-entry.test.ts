import { describe, expect, test } from '@jest/globals'
import { baseSeed, seededRandom } from '@sluice/testkit'
import { Tail } from '../../../packages/limiter-core/src/memory/tail.ts'

const LIFE = 100
const HEAVIEST = 255
const HALF = 128

interface Entry {
  readonly fraction: number
  readonly expiry: number
}

const heaviest = (entries: readonly Entry[]) => Math.max(0, ...entries.map(({ fraction }) => fraction))
const latest = (entries: readonly Entry[]) => Math.max(0, ...entries.map(({ expiry }) => expiry))

/** A tail with one cell per row, which all keys share: what it remembers of any of them at a tick. */
class Meeting {
  readonly #tail = new Tail(1)

  add({ fraction, expiry }: Entry, tick: number): void {
    this.#tail.add(1, 0, fraction, expiry, tick)
  }

  at(tick: number): Entry | undefined {
    const memory = { fraction: 0, expiry: 0 }
    return this.#tail.recall(2, 0, tick, memory) ? memory : undefined
  }
}

// regression: a cell had one entry with the maximum fraction and the latest end, so it was as heavy as one key and
// lasted as long as another
test('a heavy key that shares a cell with a lighter, longer one is remembered as heavy until its own end, and then as light', () => {
  const tail = new Meeting()
  tail.add({ fraction: HEAVIEST, expiry: 10 }, 1)
  tail.add({ fraction: HALF, expiry: 60 }, 2)
  expect(tail.at(10)?.fraction).toBe(HEAVIEST)
  expect(tail.at(11)).toEqual({ fraction: HALF, expiry: 60 })
  expect(tail.at(61)).toBeUndefined()
})

test('lighter keys without an end, each a little later, do not extend a heavier one', () => {
  const tail = new Meeting()
  tail.add({ fraction: HEAVIEST, expiry: LIFE }, 1)
  for (let tick = 1; tick <= LIFE; tick++) {
    tail.add({ fraction: HALF + (tick % 20), expiry: tick + LIFE }, tick)
    expect(tail.at(tick)?.fraction).toBe(HEAVIEST)
  }
  expect(tail.at(LIFE + 1)?.fraction).toBeLessThan(HALF + 20)
})

test('a lighter key that ends before a heavier one does not extend later keys', () => {
  const tail = new Meeting()
  tail.add({ fraction: HEAVIEST, expiry: 10 }, 1)
  tail.add({ fraction: 200, expiry: 12 }, 1)
  tail.add({ fraction: HEAVIEST, expiry: 20 }, 1)
  tail.add({ fraction: HALF, expiry: 30 }, 1)
  expect(tail.at(21)).toEqual({ fraction: HALF, expiry: 30 })
})

describe('keys of any fraction and any end, at any time', () => {
  const seed = baseSeed()

  test(`no key is forgotten before its end, and none is remembered a lifetime longer (seed ${seed})`, () => {
    const random = seededRandom(seed)
    for (let run = 0; run < 200; run++) {
      const tail = new Meeting()
      const entries: Entry[] = []
      for (let tick = 1; tick < 6 * LIFE; tick += 1 + random.whole(random.pick([5, 40]))) {
        const entry = { fraction: HALF + random.whole(HALF), expiry: tick + random.whole(LIFE) }
        tail.add(entry, tick)
        entries.push(entry)
        const at = tick + random.whole(LIFE / 4)
        const memory = tail.at(at) ?? { fraction: 0, expiry: 0 }
        const live = entries.filter(({ expiry }) => expiry >= at)
        const lately = entries.filter(({ expiry }) => expiry >= at - LIFE)
        // one expect call per check would take longer than all checks
        const held = memory.fraction >= heaviest(live) && memory.expiry >= latest(live)
        const ended = memory.fraction <= heaviest(lately) && memory.expiry <= latest(lately)
        if (!held || !ended) expect({ run, at, memory, live, lately }).toMatchObject({ held, ended })
      }
    }
  })
})
