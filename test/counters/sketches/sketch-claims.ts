import assert from 'node:assert/strict'
import type { CounterLedger } from '@sluice/counters'
import { TDigest } from '@sluice/sketches'
import { FakeClock, hostileKeys } from '@sluice/testkit'
import {
  codeOf,
  DAY,
  digests,
  HOUR,
  near,
  registers,
  rowSpans,
  type SketchBench,
  START,
  seed,
  uniques,
  within,
} from './sketch-bench.ts'
import { tableClaims } from './table-claims.ts'

/** What every ledger that stores sketches guarantees, by claim. */
export const sketchClaims: Readonly<Record<string, (bench: SketchBench) => Promise<void>>> = {
  'counts a key once, over all processes and hours of a day': async (bench) => {
    const [one, other] = [uniques(bench), uniques(bench)]
    for (let n = 0; n < 100; n++) await one.add('page', `key ${n}`)
    for (let n = 50; n < 150; n++) await other.add('page', `key ${n}`)
    await other.add('elsewhere', 'key 0')
    await other.flush()
    assert.deepEqual(await one.add('page', 'key 0', { durable: true }), { durable: bench.durable })
    near(await one.hour('page'), 150)
    bench.clock.advance(HOUR)
    for (let n = 100; n < 200; n++) await one.add('page', `key ${n}`)
    assert.deepEqual(await one.add('page', 'key 0'), { durable: false })
    near(await one.hour('page'), 101)
    near(await other.hour('page', { now: START }), 150)
    near(await other.day('page'), 200)
    assert.deepEqual([await other.day('elsewhere'), await other.day('nobody'), await one.hour('nobody')], [1, 0, 0])
    near((await one.daySketch('page')).count(), 200)
    bench.clock.advance(DAY)
    await one.add('page', 'key 0', { durable: true })
    assert.equal(await one.day('page'), 1)
    near(await one.day('page', { days: 2 }), 200)
  },

  'returns the quantiles of an hour and of a day over the values of all processes': async (bench) => {
    const [one, other] = [digests(bench), digests(bench)]
    for (let n = 0; n < 500; n++) await (n % 2 ? one : other).add('ms', n)
    await other.flush()
    assert.equal(await one.hour('ms', 0), 0)
    within(await one.hour('ms', 0.99), 495, 3)
    bench.clock.advance(HOUR)
    for (let n = 500; n < 1_000; n++) await (n % 2 ? one : other).add('ms', n)
    await one.flush()
    within(await other.hour('ms', 0.5), 750, 6)
    within(await other.day('ms', 0.99), 990, 5)
    assert.equal((await other.daySketch('ms')).count, 1_000)
    assert.equal((await other.hourSketch('ms'))?.count, 500)
    assert.ok(Number.isNaN(await one.day('nothing', 0.5)))
  },

  'merges hours into days without changing an answer, and deletes expired days': async (bench) => {
    const kept = { hours: 3, days: 2 }
    const [unique, digest] = [uniques(bench, kept), digests(bench, kept)]
    const all = new TDigest({ compression: 200 })
    for (let hour = 0; hour < 30; hour++) {
      for (let n = 0; n < 6; n++) {
        await unique.add('id', `${hour} ${n}`, { durable: true })
        await digest.add('id', hour * 6 + n, { durable: true })
        all.add(hour * 6 + n)
      }
      if (hour < 29) bench.clock.advance(HOUR)
    }
    const exact = async (): Promise<unknown> => [
      registers(await unique.daySketch('id', { days: 2 })),
      (await digest.daySketch('id', { days: 2 })).count,
      await unique.day('id', { now: START }),
      await unique.hour('id'),
      await unique.hour('id', { now: START + 26 * HOUR }),
    ]
    const before = await exact()
    await unique.compact()
    await digest.compact()
    assert.deepEqual(await exact(), before)
    assert.deepEqual(await rowSpans(bench), ['0+24', '24+3', '27+1', '28+1', '29+1'])
    assert.equal(await unique.compact(), 0)
    const whole = await digest.daySketch('id', { days: 2 })
    assert.equal(whole.count, 180)
    for (const q of [0, 0.5, 0.99, 1]) within(whole.quantile(q), all.quantile(q), 2)
    bench.clock.advance(DAY)
    await unique.compact()
    assert.deepEqual(await rowSpans(bench), ['24+6'])
    assert.equal(await unique.day('id', { days: 1_000 }), 36)
  },

  'does not answer for an hour after a process with fewer hours has merged it': async (bench) => {
    const [many, few] = [uniques(bench, { hours: 48 }), uniques(bench, { hours: 2 })]
    await many.add('id', 'a', { durable: true })
    bench.clock.advance(HOUR)
    await many.add('id', 'b', { durable: true })
    bench.clock.advance(2 * HOUR)
    assert.deepEqual([await many.hour('id', { now: START }), await few.hour('id', { now: START })], [1, undefined])
    await few.compact()
    assert.deepEqual([await many.hour('id', { now: START }), await many.day('id')], [undefined, 2])
  },

  'has one seed, drawn by a process or configured in all, and rejects other seeds with an error code': async (
    bench,
  ) => {
    const drawn = uniques(bench, { seed: undefined })
    await drawn.add('id', 'a', { durable: true })
    for (const options of [{ seed }, { seed: undefined, precision: 12 }]) {
      assert.equal(await codeOf(uniques(bench, options).add('id', 'a')), 'SLUICE_SKETCH_MISMATCH')
      assert.equal(await codeOf(uniques(bench, options).day('id')), 'SLUICE_SKETCH_MISMATCH')
    }
    const sharedBench = { ...bench, name: `${bench.name}-told` }
    const shared = uniques(sharedBench, { seed })
    await shared.add('id', 'a')
    assert.equal(await codeOf(uniques(sharedBench, { seed: undefined }).add('id', 'a')), 'SLUICE_SKETCH_MISMATCH')
    assert.equal(await codeOf(uniques(sharedBench, { seed: `${seed}!` }).add('id', 'a')), 'SLUICE_SKETCH_MISMATCH')
    await uniques(sharedBench, { seed }).add('id', 'b', { durable: true })
    assert.deepEqual([await shared.day('id'), await uniques(bench, { seed: undefined }).day('id')], [2, 1])
    await digests(bench).add('id', 1)
    assert.equal(await codeOf(digests(bench, { compression: 100 }).add('id', 1)), 'SLUICE_SKETCH_MISMATCH')
    assert.equal(await codeOf(digests(bench, { scale: 'k1' }).day('id', 0.5)), 'SLUICE_SKETCH_MISMATCH')
  },

  'keeps kinds, names and ids apart, whatever bytes an id has': async (bench) => {
    const [unique, digest, other] = [uniques(bench), digests(bench), uniques({ ...bench, name: `${bench.name}-2` })]
    const ids = hostileKeys.filter((id) => id !== '' && Buffer.byteLength(id) <= 256)
    for (const [n, id] of ids.entries()) for (let key = 0; key <= n; key++) await unique.add(id, key)
    await digest.add(ids[0], 1)
    await unique.flush()
    for (const [n, id] of ids.entries()) assert.equal(await unique.day(id), n + 1, JSON.stringify(id))
    assert.deepEqual([await other.day(ids[0]), (await digest.daySketch(ids[0])).count], [0, 1])
    for (const id of ['', 'x'.repeat(257), 7]) {
      assert.equal(await codeOf(unique.add(id as string, 'a')), 'SLUICE_BAD_COUNTER_ID')
      assert.equal(await codeOf(digest.day(id as string, 0.5)), 'SLUICE_BAD_COUNTER_ID')
    }
  },

  'rejects invalid values with an error code, and counts nothing': async (bench) => {
    const digest = digests(bench, { maxWaiting: 2 })
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, '1', undefined]) {
      assert.equal(await codeOf(digest.add('nothing', value as number)), 'SLUICE_BAD_AMOUNT')
    }
    await digest.add('a', 1)
    await digest.add('b', 1)
    assert.equal(await codeOf(digest.add('c', 1)), 'SLUICE_COUNTERS_FULL')
    await digest.add('a', 2)
    await digest.flush()
    await digest.add('c', 1)
    const counts = await Promise.all(['nothing', 'a', 'c'].map(async (id) => (await digest.daySketch(id)).count))
    assert.deepEqual(counts, [0, 2, 1])
    assert.equal(await codeOf(digest.add('a', 1, { durable: 1 } as never)), 'SLUICE_BAD_OPTION')
    assert.equal(await codeOf(digest.day('a', 2)), 'SLUICE_BAD_OPTION')
    assert.equal(await codeOf(digest.day('a', 0.5, { days: 0 })), 'SLUICE_BAD_OPTION')
    await digest.close()
    assert.equal(await codeOf(digest.add('a', 1)), 'SLUICE_COUNTERS_CLOSED')
    assert.equal(await codeOf(digest.day('a', 0.5)), 'SLUICE_COUNTERS_CLOSED')
  },

  'writes more than a batch can hold, and has nothing pending afterwards': async (bench) => {
    const unique = uniques(bench, { maxBatch: 3 })
    for (let n = 0; n < 10; n++) await unique.add(`id ${n}`, 'a')
    const waited = Promise.all([unique.add('late', 'a', { durable: true }), unique.add('late', 'b', { durable: true })])
    await waited
    await unique.add('last', 'a')
    await unique.close()
    const reader = uniques(bench)
    const days = await Promise.all(['id 0', 'id 9', 'late', 'last'].map((id) => reader.day(id)))
    assert.deepEqual(days, [1, 1, 2, 1])
  },

  ...tableClaims,
}

/** Runs a claim on a new bench. */
export async function runClaim(
  claim: string,
  makeLedger: (clock: FakeClock) => CounterLedger,
  { name, durable = true }: { readonly name: string; readonly durable?: boolean },
): Promise<void> {
  const clock = new FakeClock({ wallMs: START })
  await sketchClaims[claim]({ clock, ledger: makeLedger(clock), name, durable })
}
