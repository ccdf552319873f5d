import assert from 'node:assert/strict'
import { join } from 'node:path'
import { run } from '../packaging/command.ts'
import { root } from '../repository.ts'

const programs = join(import.meta.dirname, 'programs')

/**
 * Runs a script of `programs/` in a child process, so that the test can observe uncaught errors and garbage collection.
 * Returns its output, parsed as JSON.
 */
export async function runProgram(name: string, ...args: readonly string[]): Promise<unknown> {
  const { code, stdout, output } = await run(
    process.execPath,
    [
      ...['--expose-gc', '--conditions=@sluice/source'],
      ...['--require', join(import.meta.dirname, '../services/processes/typescript-hook.cjs')],
      // the file itself would be loaded as an ES module, which the hook does not see
      ...['--eval', `require(${JSON.stringify(join(programs, `${name}.ts`))})`],
      ...['--', ...args],
    ],
    root,
  )
  assert.equal(code, 0, output)
  return JSON.parse(stdout)
}
