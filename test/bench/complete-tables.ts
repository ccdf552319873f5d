import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from '@jest/globals'

interface Table {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number | null)[])[]
}

export const root: string = fileURLToPath(new URL('../..', import.meta.url))

/** The benchmarks that `npm test` runs: what every user of a limiter runs, without a server. */
export const quickBenchmarks = ['decisions', 'kernel', 'http'] as const

/** The benchmarks that only `npm run test:long` runs, in parts of less than a minute on an idle machine. */
export const longBenchmarks = [
  ['earlier', 'memory', 'hash'],
  ['redis', 'clients', 'leases', 'synced'],
  ['sketches', 'floods', 'counters', 'quotas', 'postgres', 'stores', 'holds'],
  ['objects', 'insight', 'replay', 'overload'],
] as const

/** What the tables of some benchmarks must contain. */
const contents: Readonly<Record<string, (tables: readonly Table[]) => void>> = {
  decisions: ([speeds]) => expect(speeds?.rows.length).toBeGreaterThan(12),
  http: (tables) => {
    const frameworks = tables.map(({ title }) => title.split(':')[0])
    expect(frameworks).toEqual(['Express 5', 'Koa 3', 'Fastify 5', 'Hono 4', 'Nest 12 on Express 5', 'HTTP targets'])
  },
  redis: ([oneAtATime, manyAtATime]) => {
    expect([oneAtATime, manyAtATime].map((table) => table?.rows.length)).toEqual([15, 15])
  },
}

/** Runs the command of the benchmarks and returns what it prints. */
export async function runBenchmarks(...args: readonly string[]): Promise<string> {
  const all = ['bench/src/main.mjs', ...args]
  const { stdout } = await promisify(execFile)(process.execPath, all, { cwd: root, maxBuffer: 16 << 20 })
  return stdout
}

/**
 * Checks that the benchmarks complete and that every table has rows of finite numbers. Each contender verifies in its
 * own process that it denies above its limit: otherwise the command exits with a non-zero code.
 */
export async function expectCompleteTables(names: readonly string[]): Promise<void> {
  const results: Readonly<Record<string, readonly Table[]>> = JSON.parse(
    await runBenchmarks('--smoke', '--json', ...names),
  )
  expect(Object.keys(results)).toEqual(names)
  for (const table of Object.values(results).flat()) {
    expect({ title: table.title, rows: table.rows.length }).not.toEqual({ title: table.title, rows: 0 })
    for (const row of table.rows) {
      expect(row).toHaveLength(table.columns.length)
      // JSON has no NaN or Infinity: they become null
      expect(row).not.toContain(null)
    }
  }
  for (const [name, tables] of Object.entries(results)) contents[name]?.(tables)
}
