import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { findingsOf } from './attempts.ts'
import type { Group } from './row.ts'

const TIMEOUT_MS = 120_000

/** The short form of each row is a test. It fails if a figure violates its bound. */
export function testGroup<Bench>(group: Group<Bench>): void {
  describe(group.name, () => {
    let bench: Bench
    beforeAll(async () => {
      bench = await group.start()
    }, TIMEOUT_MS)
    afterAll(() => group.stop(bench), TIMEOUT_MS)

    const rows = group.rows.filter(({ onlyLong }) => !onlyLong)
    test.each(rows.map((row) => [`${row.id}: ${row.fault}: the guarantees hold`, row] as const))(
      '%s',
      async (_, row) => {
        const findings = await findingsOf(row, bench, 'short')
        if (findings.misses.length > 0) throw new Error(findings.lines.join('\n'))
        expect(findings.lines).not.toEqual([])
      },
      TIMEOUT_MS,
    )
  })
}
