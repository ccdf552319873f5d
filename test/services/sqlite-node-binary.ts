import { execFileSync } from 'node:child_process'
import { root } from '../repository.ts'

const LIMIT_MS = 5 * 60_000

/** The Node with the module `node:sqlite`. */
export function sqliteNodeBinary(): string {
  return process.getBuiltinModule('node:sqlite' as never) ? process.execPath : newerNodeBinary(24)
}

/**
 * This Node, if its major version is at least `major`. Otherwise that major version, which is installed below .artifacts/
 * if it is missing.
 */
export function newerNodeBinary(major: number): string {
  if (Number.parseInt(process.versions.node, 10) >= major) return process.execPath
  const program = `import('./tools/tests/node-binary.mjs').then(async (tool) => console.log(await tool.nodeBinary(${major})))`
  const output = execFileSync(process.execPath, ['--eval', program], { cwd: root, encoding: 'utf8', timeout: LIMIT_MS })
  return output.trim().split('\n').at(-1) as string
}
