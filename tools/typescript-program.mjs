import { join } from 'node:path'
import { runChild } from './child.mjs'
import { root } from './root-command.mjs'

/** Runs what a TypeScript file below test/ exports, in a Node of its own on the packages' source, as `runChild` does. */
export function runTypeScript(path, call, options) {
  const hook = join(root, 'test/services/typescript-hook.cjs')
  const program = `require(${JSON.stringify(join(root, 'test', path))}).${call}`
  const args = ['--conditions=@sluice/source', '--require', hook, '--eval', program]
  return runChild(process.execPath, args, { cwd: root, ...options })
}
