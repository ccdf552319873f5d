import assert from 'node:assert/strict'
import {
  type CounterLedger,
  type DigestCounters,
  type DigestCountersOptions,
  digestCounters,
  type SketchRow,
  type SketchTable,
  type UniqueCounters,
  type UniqueCountersOptions,
  uniqueCounters,
} from '@sluice/counters'
import { HyperLogLog, TDigest } from '@sluice/sketches'
import { FakeClock, hostileKeys } from '@sluice/testkit'

export const HOUR = 3_600_000
export const DAY = 24 * HOUR
/** A midnight of UTC. */
export const START: number = Date.UTC(2026, 0, 5)
const FIRST_HOUR = START / HOUR
/** Under which no two of the few keys of a claim are one to a sketch. */
const seed = 'a seed of more than 16 bytes'

/** A ledger, and a name in it that nobody counted under. */
export interface SketchBench {
  readonly clock: FakeClock
  readonly ledger: CounterLedger
  readonly name: string
  readonly durable: boolean
}

/** What every ledger that keeps sketches keeps of them, by its claim. */
export const sketchClaims: Readonly<Record<string, (bench: SketchBench) => Promise<void>>> = {
  'counts a key once, in whichever process and hours of a day it came': async (bench) => {
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

  'answers the quantiles of an hour and of a day from all values of all processes': async (bench) => {
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

  'adds a batch once, however often it is sent, and none after a later one': async (bench) => {
    const table = tableOf(bench)
    const row = { id: 'a', firstHour: FIRST_HOUR, hours: 1, bytes: Uint8Array.of(0, 255, 92) }
    const batch = { writer: 'w', number: 1, rows: [row, { ...row, id: 'b' }] }
    await table.append(batch)
    await Promise.all([table.append(batch), table.append({ ...batch, writer: 'v' })])
    await table.append({ ...batch, number: 3, rows: [{ ...row, id: 'c' }] })
    await table.append({ ...batch, number: 2, rows: [{ ...row, id: 'c' }] })
    assert.deepEqual([(await rowsOf(table, 'a')).length, (await rowsOf(table, 'b')).length], [2, 2])
    assert.equal((await rowsOf(table, 'c')).length, 1)
    assert.deepEqual([...(await rowsOf(table, 'a'))[0].bytes], [...row.bytes])
  },

  'puts one row in the place of several once, where each of them is still there': async (bench) => {
    const table = tableOf(bench)
    const row = { id: 'a', firstHour: FIRST_HOUR, hours: 1, bytes: Uint8Array.of(1) }
    await table.append({
      writer: 'w',
      number: 1,
      rows: [row, { ...row, firstHour: FIRST_HOUR + 1 }, { ...row, id: 'b' }],
    })
    const rows = await rowsOf(table, 'a')
    const merged = { ...row, hours: 2, bytes: Uint8Array.of(2) }
    const answers = await Promise.all([1, 2, 3].map(() => table.replace(rows, merged)))
    assert.deepEqual(answers.filter(Boolean), [true])
    const [left, ...others] = await rowsOf(table, 'a')
    assert.deepEqual([left.firstHour, left.hours, [...left.bytes], others.length], [FIRST_HOUR, 2, [2], 0])
    // one of these is gone: neither goes
    await table.append({ writer: 'w', number: 2, rows: [row] })
    assert.equal(await table.replace([...(await rowsOf(table, 'a')), rows[0]], merged), false)
    assert.deepEqual([(await rowsOf(table, 'a')).length, (await rowsOf(table, 'b')).length], [2, 1])
  },

  'reads the rows that have an hour of a range, those of several hours too': async (bench) => {
    const table = tableOf(bench)
    const row = { id: 'a', firstHour: FIRST_HOUR, hours: 24, bytes: Uint8Array.of(1) }
    const hours = [1, 5, 24].map((hour) => ({ ...row, firstHour: FIRST_HOUR + hour, hours: 1 }))
    await table.append({ writer: 'w', number: 1, rows: [row, ...hours] })
    const read = async (from: number, until: number): Promise<number> =>
      (await table.read('a', { from: FIRST_HOUR + from, until: FIRST_HOUR + until })).length
    assert.deepEqual(
      await Promise.all([read(23, 24), read(5, 6), read(24, 48), read(-24, 0), read(-24, 1)]),
      [1, 2, 1, 0, 1],
    )
    await table.forget(FIRST_HOUR + 5)
    assert.deepEqual(await Promise.all([read(0, 5), read(0, 48)]), [0, 2])
  },

  'lists groups of several rows, page by page, and lets one of a fleet ask for an hour': async (bench) => {
    const table = tableOf(bench)
    const row = (id: string, hour: number, hours = 1) => ({
      id,
      firstHour: FIRST_HOUR + hour,
      hours,
      bytes: Uint8Array.of(1),
    })
    const rows = [
      row('a', 0),
      row('a', 3),
      row('a', 30),
      row('a', 30),
      row('a', 31),
      row('b', 31, 2),
      row('b', 24),
      row('c', 40),
    ]
    await table.append({ writer: 'w', number: 1, rows })
    const found: string[] = []
    let after: Parameters<SketchTable['crowded']>[0]['after']
    for (;;) {
      const page = await table.crowded({ before: FIRST_HOUR + 25, after, limit: 1 })
      if (page.length === 0) break
      after = page[0]
      found.push(`${after.id} ${after.first - FIRST_HOUR} ${after.span}`)
    }
    assert.deepEqual(found, ['a 0 24', 'a 30 1', 'b 24 24'])
    const claims = [5, 5, 4, 6].map((hour) => () => table.claimCompaction(hour))
    const answers: boolean[] = []
    for (const claim of claims) answers.push(await claim())
    assert.deepEqual(answers, [true, false, false, true])
  },

  'merges hours into days without changing an answer, and deletes days that are over': async (bench) => {
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

  'answers no hour that a process merged that keeps fewer of them': async (bench) => {
    const [many, few] = [uniques(bench, { hours: 48 }), uniques(bench, { hours: 2 })]
    await many.add('id', 'a', { durable: true })
    bench.clock.advance(HOUR)
    await many.add('id', 'b', { durable: true })
    bench.clock.advance(2 * HOUR)
    assert.deepEqual([await many.hour('id', { now: START }), await few.hour('id', { now: START })], [1, undefined])
    await few.compact()
    assert.deepEqual([await many.hour('id', { now: START }), await many.day('id')], [undefined, 2])
  },

  'has one seed that a process drew, or one that all were told, and refuses others by code': async (bench) => {
    const drawn = uniques(bench, { seed: undefined })
    await drawn.add('id', 'a', { durable: true })
    for (const options of [{ seed }, { seed: undefined, precision: 12 }]) {
      assert.equal(await codeOf(uniques(bench, options).add('id', 'a')), 'SLUICE_SKETCH_MISMATCH')
      assert.equal(await codeOf(uniques(bench, options).day('id')), 'SLUICE_SKETCH_MISMATCH')
    }
    const toldBench = { ...bench, name: `${bench.name}-told` }
    const told = uniques(toldBench, { seed })
    await told.add('id', 'a')
    assert.equal(await codeOf(uniques(toldBench, { seed: undefined }).add('id', 'a')), 'SLUICE_SKETCH_MISMATCH')
    assert.equal(await codeOf(uniques(toldBench, { seed: `${seed}!` }).add('id', 'a')), 'SLUICE_SKETCH_MISMATCH')
    await uniques(toldBench, { seed }).add('id', 'b', { durable: true })
    assert.deepEqual([await told.day('id'), await uniques(bench, { seed: undefined }).day('id')], [2, 1])
    await digests(bench).add('id', 1)
    assert.equal(await codeOf(digests(bench, { compression: 100 }).add('id', 1)), 'SLUICE_SKETCH_MISMATCH')
    assert.equal(await codeOf(digests(bench, { scale: 'k1' }).day('id', 0.5)), 'SLUICE_SKETCH_MISMATCH')
  },

  'keeps kinds, names and ids apart, whatever bytes ids have': async (bench) => {
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

  'refuses foreign bytes by their code, and merges what is beside them': async (bench) => {
    const unique = uniques(bench)
    await unique.add('good', 'a', { durable: true })
    await unique.add('good', 'b', { durable: true })
    const table = tableOf(bench)
    const bytes = [
      new HyperLogLog({ precision: 12 }).toBytes(),
      Buffer.alloc(0),
      Buffer.from('bytes'),
      Buffer.alloc(64),
    ]
    const rows = bytes.map((foreign, n) => ({ id: `bad ${n}`, firstHour: FIRST_HOUR, hours: 1, bytes: foreign }))
    await table.append({ writer: 'stranger', number: 1, rows: rows.flatMap((row) => [row, row]) })
    for (const { id } of rows) assert.equal(await codeOf(unique.day(id)), 'SLUICE_BAD_BYTES')
    assert.equal(await codeOf(unique.compact()), 'SLUICE_BAD_BYTES')
    assert.deepEqual([(await rowsOf(table, 'good')).length, await unique.day('good')], [1, 2])
  },

  'refuses by code what it cannot count, and has counted nothing': async (bench) => {
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

  'writes more than a batch holds, and ends with nothing left': async (bench) => {
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
}

export function uniques({ clock, ledger, name }: SketchBench, options: UniqueCountersOptions = {}): UniqueCounters {
  return uniqueCounters({ ledger, name, clock, random: () => 0.99, seed, ...options })
}

export function digests({ clock, ledger, name }: SketchBench, options: DigestCountersOptions = {}): DigestCounters {
  return digestCounters({ ledger, name, clock, random: () => 0.99, ...options })
}

/** Runs a claim on a bench of its own. */
export async function runClaim(
  claim: string,
  makeLedger: (clock: FakeClock) => CounterLedger,
  { name, durable = true }: { readonly name: string; readonly durable?: boolean },
): Promise<void> {
  const clock = new FakeClock({ wallMs: START })
  await sketchClaims[claim]({ clock, ledger: makeLedger(clock), name, durable })
}

/** That of a HyperLogLog, which are equal where it saw the same keys. */
export function registers(sketch: HyperLogLog): string {
  return Buffer.from(sketch.toBytes()).toString('base64')
}

export function tableOf({ ledger, name }: SketchBench, kind: 'unique' | 'digest' = 'unique'): SketchTable {
  assert.ok(ledger.openSketches)
  return ledger.openSketches(name, kind)
}

function rowsOf(table: SketchTable, id: string): Promise<readonly SketchRow[]> {
  return table.read(id, { from: FIRST_HOUR, until: FIRST_HOUR + 1_000 * 24 })
}

/** Of 'id', in the order of their hours, from the first of all: `24+3` are three from the 25th on. */
async function rowSpans(bench: SketchBench): Promise<readonly string[]> {
  const rows = [...(await rowsOf(tableOf(bench), 'id'))].sort((one, other) => one.firstHour - other.firstHour)
  return rows.map(({ firstHour, hours }) => `${firstHour - FIRST_HOUR}+${hours}`)
}

function near(value: number | undefined, expected: number): void {
  within(value, expected, Math.max(1, 0.0406 * expected))
}

function within(value: number | undefined, expected: number, most: number): void {
  assert.ok(Math.abs(Number(value) - expected) <= most, `got ${value}, expected ${expected} ± ${most}`)
}

async function codeOf(answer: Promise<unknown>): Promise<unknown> {
  return answer.then(
    () => 'no error',
    (error: { code?: unknown }) => error.code,
  )
}
