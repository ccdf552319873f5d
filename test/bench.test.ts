import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { expectCompleteTables, longBenchmarks, quickBenchmarks, root, runBenchmarks } from './bench/complete-tables.ts'

describe('the benchmarks', () => {
  test('that need no server complete, and every table has its rows with finite numbers', async () => {
    await expectCompleteTables(quickBenchmarks)
  }, 300_000)

  test('are all among those that run here or in the long tests', async () => {
    const [, all] = /^npm run bench -- ((?:\[\w+\] )+)/.exec(await runBenchmarks('--help')) ?? []
    expect(all?.match(/\w+/g)?.sort()).toEqual([...quickBenchmarks, ...longBenchmarks.flat()].sort())
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
