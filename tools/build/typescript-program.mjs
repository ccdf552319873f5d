import { join } from 'node:path'
import { runChild } from '../child.mjs'
import { root } from '../root-command.mjs'

/** Runs an export of a TypeScript file below test/ in a child process on the packages' source, like `runChild`. */
export function runTypeScript(path, call, options) {
  const hook = join(root, 'test/services/processes/typescript-hook.cjs')
  const program = `require(${JSON.stringify(join(root, 'test', path))}).${call}`
  const args = ['--conditions=@sluice/source', '--require', hook, '--eval', program]
  return runChild(process.execPath, args, { cwd: root, ...options })
}
