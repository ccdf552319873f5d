import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from '@jest/globals'

interface Table {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number | null)[])[]
}

const root = fileURLToPath(new URL('..', import.meta.url))

/** The benchmarks that run together: each part takes less than a minute on an idle machine. */
const parts = [
  ['decisions', 'earlier', 'memory', 'http', 'hash'],
  ['redis', 'clients', 'leases', 'synced'],
  ['sketches', 'floods', 'counters', 'quotas', 'postgres', 'holds'],
  ['objects', 'insight', 'replay', 'overload'],
] as const

async function run(...args: readonly string[]): Promise<string> {
  const all = ['bench/src/main.mjs', ...args]
  const { stdout } = await promisify(execFile)(process.execPath, all, { cwd: root, maxBuffer: 16 << 20 })
  return stdout
}

/** What the tables of some benchmarks must contain. */
const contents: Readonly<Record<string, (tables: readonly Table[]) => void>> = {
  decisions: ([speeds]) => expect(speeds?.rows.length).toBeGreaterThan(12),
  http: (tables) => {
    const frameworks = tables.map(({ title }) => title.split(':')[0])
    expect(frameworks).toEqual(['Express 5', 'Koa 3', 'Fastify 5', 'Nest 12 on Express 5', 'HTTP targets'])
  },
  redis: ([oneAtATime, manyAtATime]) => {
    expect([oneAtATime, manyAtATime].map((table) => table?.rows.length)).toEqual([15, 15])
  },
}

describe('the benchmarks', () => {
  // every contender verifies in its own process that it denies above its limit: a failure exits with a non-zero code
  test.each(parts.map((names) => [names.join(', '), names] as const))(
    'complete, and every table has its rows with finite numbers: %s',
    async (_, names) => {
      const results: Readonly<Record<string, readonly Table[]>> = JSON.parse(await run('--smoke', '--json', ...names))
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
    },
    300_000,
  )

  test('are all among those that ran', async () => {
    const [, all] = /^npm run bench -- ((?:\[\w+\] )+)/.exec(await run('--help')) ?? []
    expect(all?.match(/\w+/g)).toEqual(parts.flat())
  })

  test('one request runs through no more functions and files than ARCHITECTURE.md states', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['bench/src/http/request-path.mjs'], { cwd: root })
    const [functions, files] = countsIn(stdout)
    const [mostFunctions, mostFiles] = countsIn(await readFile(`${root}/ARCHITECTURE.md`, 'utf8'))
    expect(functions).toBeGreaterThan(0)
    expect(functions).toBeLessThanOrEqual(mostFunctions)
    expect(files).toBeLessThanOrEqual(mostFiles)
  })
})

function countsIn(text: string): [functions: number, files: number] {
  const [, functions, files] = /(\d+) functions in (\d+) files/.exec(text) ?? []
  return [Number(functions), Number(files)]
}
