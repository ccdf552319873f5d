import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../repository.ts'

const HOOK = require.resolve('../services/processes/typescript-hook.cjs')
const run = promisify(execFile)

/**
 * Runs a script below `test/` in a child process and returns the JSON that it prints last: a hang can be killed, and
 * memory is separate. Rejects if the script fails or takes longer than `timeoutMs`.
 */
export async function childResult<T>(
  script: string,
  { args = [], timeoutMs = 60_000 }: { args?: readonly string[]; timeoutMs?: number } = {},
): Promise<T> {
  const path = join(root, 'test', script)
  const nodeArgs = ['--expose-gc', '--conditions=@sluice/source', '-r', HOOK, '-e', `require(${JSON.stringify(path)})`]
  const ran = run(process.execPath, [...nodeArgs, '--', ...args], {
    cwd: root,
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  })
  const { stdout } = await ran.catch((error) => {
    const why = error.killed ? `hung: killed after ${timeoutMs} ms` : error.stderr || error.message
    throw new Error(`${script} ${args.join(' ')} ${why}`)
  })
  return JSON.parse(stdout.trim().split('\n').at(-1) as string)
}
