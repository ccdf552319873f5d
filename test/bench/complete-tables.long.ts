import { test } from '@jest/globals'
import { expectCompleteTables, longBenchmarks } from './complete-tables.ts'

test.each(longBenchmarks.map((names) => [names.join(', '), names] as const))(
  'the benchmarks complete, and every table has its rows with finite numbers: %s',
  async (_, names) => {
    await expectCompleteTables(names)
  },
  300_000,
)
