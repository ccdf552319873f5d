import assert from 'node:assert/strict'
import { deflateRawSync } from 'node:zlib'
import type { SketchTable } from '@sluice/counters'
import { HyperLogLog, TDigest } from '@sluice/sketches'
import { codeOf, FIRST_HOUR, rowsOf, type SketchBench, seed, tableOf, uniques } from './sketch-bench.ts'

/** What the table of a ledger that stores sketches guarantees, by claim. */
export const tableClaims: Readonly<Record<string, (bench: SketchBench) => Promise<void>>> = {
  'applies a batch once, however often it is sent, and never after a later batch': async (bench) => {
    const table = tableOf(bench)
    const row = { id: 'a', firstHour: FIRST_HOUR, hours: 1, bytes: Uint8Array.of(0, 255, 92) }
    const batch = { writer: 'w', number: 1, rows: [row, { ...row, id: 'b' }] }
    const late = { ...batch, number: 2, rows: [{ ...row, id: 'c' }] }
    assert.equal(await table.append(batch), true)
    const answers = await Promise.all([table.append(batch), table.append({ ...batch, writer: 'v' })])
    assert.deepEqual(answers, [false, true])
    assert.deepEqual([await table.append({ ...late, number: 3 }), await table.append(late)], [true, false])
    assert.equal(await table.append({ writer: 'w', number: 4, rows: [] }), true)
    assert.deepEqual([(await rowsOf(table, 'a')).length, (await rowsOf(table, 'b')).length], [2, 2])
    assert.equal((await rowsOf(table, 'c')).length, 1)
    assert.deepEqual([...(await rowsOf(table, 'a'))[0].bytes], [...row.bytes])
  },

  'replaces several rows by one row once, if all of them still exist': async (bench) => {
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
    // one of them no longer exists, so the other one is kept
    await table.append({ writer: 'w', number: 2, rows: [row] })
    assert.equal(await table.replace([...(await rowsOf(table, 'a')), rows[0]], merged), false)
    assert.deepEqual([(await rowsOf(table, 'a')).length, (await rowsOf(table, 'b')).length], [2, 1])
  },

  'reads the rows with an hour of a range, including rows of several hours': async (bench) => {
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
    await table.deleteBefore(FIRST_HOUR + 5, 1)
    assert.deepEqual(await Promise.all([read(0, 5), read(0, 48)]), [0, 2])
  },

  'lists groups of several rows, page by page': async (bench) => {
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
    let after: Parameters<SketchTable['mergeableGroups']>[0]['after']
    for (;;) {
      const page = await table.mergeableGroups({ before: FIRST_HOUR + 25, after, limit: 1 })
      if (page.length === 0) break
      after = page[0]
      found.push(`${after.id} ${after.first - FIRST_HOUR} ${after.span}`)
    }
    assert.deepEqual(found, ['a 0 24', 'a 30 1', 'b 24 24'])
  },

  'rejects foreign bytes with an error code, and merges the other rows': async (bench) => {
    const unique = uniques(bench)
    await unique.add('good', 'a', { durable: true })
    await unique.add('good', 'b', { durable: true })
    const table = tableOf(bench)
    const bytes = [
      new HyperLogLog({ seed }).toBytes(),
      Buffer.alloc(0),
      Buffer.from('bytes'),
      ...[new TDigest().toBytes(), Buffer.alloc(64), Buffer.alloc(2 ** 24)].map((each) => deflateRawSync(each)),
    ]
    const rows = bytes.map((foreign, n) => ({ id: `bad ${n}`, firstHour: FIRST_HOUR, hours: 1, bytes: foreign }))
    await table.append({ writer: 'stranger', number: 1, rows: rows.flatMap((row) => [row, row]) })
    for (const { id } of rows) assert.equal(await codeOf(unique.day(id)), 'SLUICE_BAD_BYTES')
    const others = [{ seed, precision: 12 }, { seed: `${seed}!` }].map((options, n) => {
      const bytes = deflateRawSync(new HyperLogLog(options).toBytes())
      return { id: `other ${n}`, firstHour: FIRST_HOUR, hours: 1, bytes }
    })
    await table.append({ writer: 'stranger', number: 2, rows: others })
    for (const { id } of others) assert.equal(await codeOf(unique.day(id)), 'SLUICE_SKETCH_MISMATCH')
    assert.equal(await codeOf(unique.compact()), 'SLUICE_BAD_BYTES')
    assert.deepEqual([(await rowsOf(table, 'good')).length, await unique.day('good')], [1, 2])
  },
}
