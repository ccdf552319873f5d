import { execFileSync } from 'node:child_process'
import { root } from '../repository.ts'

const MAJOR = 24
const LIMIT_MS = 5 * 60_000

/**
 * The Node with the module `node:sqlite`: this one, otherwise a newer one, which is installed below .artifacts/ if it is
 * missing.
 */
export function sqliteNodeBinary(): string {
  if (process.getBuiltinModule('node:sqlite' as never)) return process.execPath
  const program = `import('./tools/tests/node-binary.mjs').then(async (tool) => console.log(await tool.nodeBinary(${MAJOR})))`
  const output = execFileSync(process.execPath, ['--eval', program], { cwd: root, encoding: 'utf8', timeout: LIMIT_MS })
  return output.trim().split('\n').at(-1) as string
}
