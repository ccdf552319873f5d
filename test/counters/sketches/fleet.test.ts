import { describe, expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { HyperLogLog } from '@sluice/sketches'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { digests, HOUR, registers, type SketchBench, START, seed, uniques } from './sketch-bench.ts'

const PROCESSES = 4
const HOURS = 24
const FLUSHES = 5
const VALUES = 40

/** Distributions of the values of an hour, with tails and gaps that make p99 difficult. */
const spreads: readonly (readonly [string, (random: SeededRandom, hour: number) => number])[] = [
  ['by powers', (random, hour) => Math.exp(random.next() * 8) * (1 + hour)],
  ['in two clusters', (random) => (random.next() < 0.985 ? random.next() : 900 + 100 * random.next())],
  ['with ten distinct values', (random) => random.whole(10)],
]

/** Distance of the rank of an answer from `q`, as a share of all values. */
function rankError(answer: number, q: number, sorted: readonly number[]): number {
  const rank = q * sorted.length
  const upTo = sorted.filter((value) => value <= answer).length
  const below = sorted.filter((value) => value < answer).length
  return Math.max(0, below - rank, rank - upTo) / sorted.length
}

/** Number of additions of each process per hour. */
async function ofOneDay(add: (process: number, hour: number) => Promise<unknown>, clock: FakeClock): Promise<void> {
  for (let hour = 0; hour < HOURS; hour++) {
    for (let flush = 0; flush < FLUSHES; flush++) {
      for (let process = 0; process < PROCESSES; process++) await add(process, hour)
    }
    clock.advance(HOUR)
  }
}

function newBench(): SketchBench & { readonly clock: FakeClock } {
  const clock = new FakeClock({ wallMs: START })
  return { clock, ledger: new MemoryLedger(clock), name: 'fleet', durable: false }
}

describe('one day of a fleet that merges rows all the time', () => {
  test.each(spreads)('has an exact count and quantiles within their error, for values %s', (_spread, draw) =>
    eachSeed(1, async (random) => {
      const bench = newBench()
      // half of the added rows merge the rows of their hour
      const options = { hours: 3, random: () => random.next() / 16 }
      const fleet = Array.from({ length: PROCESSES }, () => digests(bench, options))
      const values: number[] = []
      await ofOneDay(async (process, hour) => {
        for (let n = 0; n < VALUES; n++) {
          values.push(draw(random, hour))
          await fleet[process].add('ms', values[values.length - 1])
        }
        await fleet[process].flush()
      }, bench.clock)
      await fleet[0].compact()
      const day = await fleet[0].daySketch('ms', { now: START })
      expect(day.count).toBe(values.length)
      values.sort((a, b) => a - b)
      expect(rankError(day.quantile(0.99), 0.99, values)).toBeLessThanOrEqual(0.005)
      expect(rankError(day.quantile(0.5), 0.5, values)).toBeLessThanOrEqual(0.01)
    }),
  )

  test('has the registers of one sketch of all keys', () =>
    eachSeed(1, async (random) => {
      const bench = newBench()
      // half of the added rows merge the rows of their hour
      const options = { hours: 3, random: () => random.next() / 16 }
      const fleet = Array.from({ length: PROCESSES }, () => uniques(bench, options))
      const seen = new HyperLogLog({ seed })
      await ofOneDay(async (process) => {
        for (let n = 0; n < VALUES; n++) {
          const key = random.whole(20_000)
          seen.add(key)
          await fleet[process].add('visitors', key)
        }
        await fleet[process].flush()
      }, bench.clock)
      await fleet[0].compact()
      expect(registers(await fleet[0].daySketch('visitors', { now: START }))).toBe(registers(seen))
    }))
})
