import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { numberOfRuns } from '@sluice/testkit'
import { findingsOf } from './report/attempts.ts'
import type { Group } from './report/row.ts'

const TIMEOUT_MS = 120_000
/** Parts of the faults that a client does not survive, as docs/redis.md says. */
const NOT_WITH: Readonly<Record<string, readonly string[]>> = {
  'valkey-glide': ['black hole', 'NOAUTH', 'MAXCLIENTS', 'master is'],
}

const isPartialRun = numberOfRuns(100) < 100

/** The short form of each row is a test. It fails if a figure violates its bound. */
export function testGroup<Bench>(group: Group<Bench>): void {
  describe(group.name, () => {
    let bench: Bench
    beforeAll(async () => {
      bench = await group.start()
    }, TIMEOUT_MS)
    afterAll(() => group.stop(bench), TIMEOUT_MS)

    const without = NOT_WITH[process.env.FAULT_CLIENT ?? ''] ?? []
    const rows = group.rows
      .filter(({ onlyLong, isVariant }) => !onlyLong && !(isVariant && isPartialRun))
      .filter(({ fault }) => !without.some((part) => fault.includes(part)))
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
