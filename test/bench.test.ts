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

// every contender verifies in its own process that it denies above its limit: a failure exits with a non-zero code
async function smoke(): Promise<Record<string, readonly Table[]>> {
  const args = ['bench/src/main.mjs', '--smoke', '--json']
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, maxBuffer: 16 << 20 })
  return JSON.parse(stdout)
}

describe('the benchmarks', () => {
  test('complete, and every table has its rows with finite numbers', async () => {
    const results = await smoke()
    expect(Object.keys(results)).toEqual([
      'decisions',
      'earlier',
      'memory',
      'http',
      'hash',
      'redis',
      'clients',
      'leases',
      'synced',
      'sketches',
      'floods',
      'counters',
      'quotas',
      'postgres',
      'objects',
      'insight',
      'replay',
      'overload',
    ])
    for (const table of Object.values(results).flat()) {
      expect({ title: table.title, rows: table.rows.length }).not.toEqual({ title: table.title, rows: 0 })
      for (const row of table.rows) {
        expect(row).toHaveLength(table.columns.length)
        // JSON has no NaN or Infinity: they become null
        expect(row).not.toContain(null)
      }
    }
    const frameworks = (results.http as readonly Table[]).map(({ title }) => title.split(':')[0])
    expect(frameworks).toEqual(['Express 5', 'Koa 3', 'Fastify 5', 'Nest 12 on Express 5', 'HTTP targets'])
    const [speeds] = results.decisions as readonly Table[]
    expect(speeds?.rows.length).toBeGreaterThan(12)
    const [oneAtATime, manyAtATime] = results.redis as readonly Table[]
    expect([oneAtATime, manyAtATime].map((table) => table?.rows.length)).toEqual([15, 15])
  }, 300_000)

  test('one request runs through no more functions and files than ARCHITECTURE.md states', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['bench/src/request-path.mjs'], { cwd: root })
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
