import { describe, expect, test } from '@jest/globals'
import { algorithms, type CompiledPolicy, compilePolicy } from '@sluice/limiter-core/backend'
import { baseSeed, type SeededRandom, seededRandom } from '@sluice/testkit'
import { everyAlgorithm, MIB, type Scene, scene } from './scene.ts'

const KEYS = 12_000
const DEEDS = 60_000

interface Left {
  readonly remaining: number
  readonly resetAfterMs: number
  readonly retryAfterMs?: number
}

/** The same policy over a Map that keeps every key. */
class Model {
  readonly #cells = new Map<string, Float64Array>()
  readonly #compiled: CompiledPolicy

  constructor(compiled: CompiledPolicy) {
    this.#compiled = compiled
  }

  take(key: string, cost: number, now: number): Left {
    const cells = this.cells(key)
    const retryAfterMs = this.#compiled.waitMs(cells, 0, now, cost)
    if (retryAfterMs === 0) this.#compiled.spend(cells, 0, now, cost)
    return { retryAfterMs, ...this.left(key, now) }
  }

  refund(key: string, units: number, takenAt: number, now: number): Left {
    this.#compiled.adjust(this.cells(key), 0, now, -units, takenAt)
    return this.left(key, now)
  }

  reset(key: string): void {
    this.#cells.delete(key)
  }

  left(key: string, now: number): Left {
    const cells = this.cells(key)
    return {
      remaining: this.#compiled.remaining(cells, 0, now),
      resetAfterMs: this.#compiled.resetAfterMs(cells, 0, now),
    }
  }

  cells(key: string): Float64Array {
    const cells = this.#cells.get(key) ?? new Float64Array(this.#compiled.cells)
    this.#cells.set(key, cells)
    return cells
  }
}

function doOne({ limiter, clock }: Scene, model: Model, random: SeededRandom): void {
  // most operations use a few keys, so that limits are reached
  const key = `key-${random.whole(random.next() < 0.5 ? KEYS : 50)}`
  const what = random.next()
  if (what < 0.002) clock.advance(random.whole(600_000))
  else if (what < 0.5) clock.advance(random.whole(4))
  const now = clock.now()
  if (what < 0.05) {
    limiter.reset(key)
    model.reset(key)
  } else if (what < 0.1) {
    const back = limiter.charge(key, -2, now - 5).verdicts[0]
    same({ key, now }, back, model.refund(key, 2, now - 5, now))
  } else {
    const cost = random.whole(4)
    same({ key, now }, limiter.take(key, cost).verdicts[0], model.take(key, cost, now))
  }
}

// an `expect` for each of 300,000 operations would take longer than the operations
function same(deed: object, got: Left, expected: Left): void {
  for (const name of ['remaining', 'resetAfterMs', 'retryAfterMs'] as const) {
    if (expected[name] !== undefined && got[name] !== expected[name])
      expect({ ...deed, ...got }).toMatchObject(expected)
  }
}

describe.each(everyAlgorithm)('%s in a table that grows and splits', (algorithm) => {
  const seed = baseSeed()

  test(`decides like a Map that keeps every key (seed ${seed})`, () => {
    const input = { algorithm, limit: 20, window: '5m' } as const
    const made = scene([input], 32 * MIB)
    const model = new Model(algorithms[algorithm].compile(compilePolicy(input)))
    const random = seededRandom(seed)
    for (let deed = 0; deed < DEEDS; deed++) doOne(made, model, random)
    expect(made.told.evicted).toBe(0)
  })
})
