import { describe, expect, test } from '@jest/globals'
import {
  type CounterLedger,
  digestCounters,
  MemoryLedger,
  type SketchBatch,
  type SketchTable,
  uniqueCounters,
} from '@sluice/counters'
import { HyperLogLog, SketchSeed, type TDigest } from '@sluice/sketches'
import { baseSeed, FakeClock } from '@sluice/testkit'
import fc from 'fast-check'
import { HOUR, registers, START } from '../sketches/sketch-bench.ts'

const seed = new SketchSeed('a seed of more than 16 bytes')
const DAYS = 3

/**
 * A step of one process. `lost`: the next batch is applied, but its answer is lost. `late`: the batch also arrives a
 * second time.
 */
type Step =
  | { readonly kind: 'add'; readonly value: number; readonly many: number }
  | { readonly kind: 'flush' | 'compact' | 'lost' | 'late' | 'crash' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      value: fc.nat(5_000),
      many: fc.integer({ min: 1, max: 60 }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom('flush' as const, 'compact' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('lost' as const, 'late' as const, 'crash' as const) }) },
)

/** The steps of two or three processes, or of successive starts of a process. */
const scripts = fc.array(fc.array(step, { minLength: 1, maxLength: 12 }), { minLength: 2, maxLength: 3 })

/** The ledger as one process uses it: each call takes effect, and is answered, when `wait` resolves. */
class InterleavedLedger implements CounterLedger {
  readonly durable = false
  readonly #ledger: MemoryLedger
  readonly #wait: () => Promise<void>
  losesAnswer = false
  sendsTwice = false
  /** Whether the process has crashed. A crashed process makes no calls. */
  isDead = false

  constructor(ledger: MemoryLedger, wait: () => Promise<void>) {
    this.#ledger = ledger
    this.#wait = wait
  }

  open(name: string): ReturnType<MemoryLedger['open']> {
    return this.#ledger.open(name)
  }

  openSketches(name: string, kind: 'unique' | 'digest'): SketchTable {
    const table = this.#ledger.openSketches(name, kind)
    const held = async <T>(run: () => Promise<T>): Promise<T> => {
      await this.#wait()
      if (this.isDead) throw new Error('dead')
      const answer = await run()
      await this.#wait()
      if (this.isDead) throw new Error('dead')
      return answer
    }
    return {
      claimFormat: (format) => table.claimFormat(format),
      append: (batch) => this.#append(batch, (sent) => held(() => table.append(sent))),
      read: (id, range) => held(() => table.read(id, range)),
      replace: (rows, by) => held(() => table.replace(rows, by)),
      mergeableGroups: (page) => held(() => table.mergeableGroups(page)),
      deleteBefore: (before, keptDays) => held(() => table.deleteBefore(before, keptDays)),
    }
  }

  async close(): Promise<void> {}

  async #append(batch: SketchBatch, append: (batch: SketchBatch) => Promise<boolean>): Promise<boolean> {
    const isNew = await append(batch)
    if (this.sendsTwice) void append(batch).catch(() => {})
    this.sendsTwice = false
    if (!this.losesAnswer) return isNew
    this.losesAnswer = false
    throw new Error('the answer was lost')
  }
}

/** Values that were certainly applied, and values that may have been applied. */
class Expected {
  readonly sure: number[] = []
  readonly possible: number[] = []
}

/** Runs the script of one process. After a crash, flushed values are certain, and all others are possible. */
async function run(
  ledger: InterleavedLedger,
  clock: FakeClock,
  script: readonly Step[],
  expected: Expected,
): Promise<void> {
  const options = { ledger, clock, hours: 2, days: DAYS, random: () => 0.5 }
  const [unique, digest] = [uniqueCounters({ ...options, seed }), digestCounters(options)]
  let unflushed: number[] = []
  const flush = async (): Promise<void> => {
    const flushed = unflushed
    unflushed = []
    // a flush whose answer was lost is repeated
    for (const counters of [unique, digest]) while (!(await succeeds(counters.flush()))) if (ledger.isDead) break
    ;(ledger.isDead ? expected.possible : expected.sure).push(...flushed)
  }
  for (const { kind, ...added } of script) {
    if (kind === 'flush') await flush()
    if (kind === 'compact') await Promise.all([succeeds(unique.compact()), succeeds(digest.compact())])
    if (kind === 'lost') ledger.losesAnswer = true
    if (kind === 'late') ledger.sendsTwice = true
    if (kind === 'crash') {
      void Promise.all([succeeds(unique.flush()), succeeds(digest.flush())])
      await Promise.resolve()
      ledger.isDead = true
      break
    }
    if ('value' in added) {
      for (let n = 0; n < added.many; n++) {
        const value = added.value + n * 7
        await Promise.all([unique.add('id', value), digest.add('id', value)])
        unflushed.push(value)
      }
      clock.advance(HOUR / 2)
    }
  }
  if (ledger.isDead) expected.possible.push(...unflushed)
  else await flush()
}

function succeeds(answer: Promise<unknown>): Promise<boolean> {
  return answer.then(
    () => true,
    () => false,
  )
}

function hyperLogLogOf(values: readonly number[]): HyperLogLog {
  const sketch = new HyperLogLog({ seed })
  for (const value of values) sketch.add(value)
  return sketch
}

/** Distance of the rank of an answer from `q`, as a share of all values. */
function rankError(sketch: TDigest, q: number, values: readonly number[]): number {
  const answer = sketch.quantile(q)
  const [below, upTo] = [
    values.filter((value) => value < answer).length,
    values.filter((value) => value <= answer).length,
  ]
  const rank = q * values.length
  return Math.max(0, below - rank, rank - upTo) / values.length
}

describe('sketches of several processes', () => {
  test('equal one sketch of all values, for every interleaving of flushes, repeats, crashes and merges', async () => {
    await fc.assert(
      fc.asyncProperty(scripts, fc.scheduler(), async (all, scheduler) => {
        const clock = new FakeClock({ wallMs: START })
        const memory = new MemoryLedger(clock)
        const expected = new Expected()
        const runs = all.map((script) => {
          const wait = (): Promise<void> => scheduler.schedule(Promise.resolve()).then(() => {})
          return run(new InterleavedLedger(memory, wait), clock, script, expected)
        })
        await scheduler.waitFor(Promise.all(runs))
        await scheduler.waitAll()

        const options = { ledger: memory, clock, hours: 2, days: DAYS }
        const [unique, digest] = [uniqueCounters({ ...options, seed }), digestCounters(options)]
        const seen = await unique.daySketch('id', { days: DAYS })
        const measured = await digest.daySketch('id', { days: DAYS })
        const { sure, possible } = expected
        expect(measured.count).toBeGreaterThanOrEqual(sure.length)
        expect(measured.count).toBeLessThanOrEqual(sure.length + possible.length)
        if (possible.length === 0) {
          expect(registers(seen)).toBe(registers(hyperLogLogOf(sure)))
          if (sure.length > 0)
            for (const q of [0.5, 0.9, 0.99])
              expect(rankError(measured, q, sure)).toBeLessThanOrEqual(q === 0.99 ? 0.005 : 0.02)
        } else {
          const least = hyperLogLogOf(sure)
          least.merge(seen)
          expect(registers(least)).toBe(registers(seen))
          seen.merge(hyperLogLogOf([...sure, ...possible]))
          expect(registers(seen)).toBe(registers(hyperLogLogOf([...sure, ...possible])))
        }
      }),
      { seed: baseSeed(), numRuns: 60, endOnFailure: true },
    )
  }, 120_000)
})
