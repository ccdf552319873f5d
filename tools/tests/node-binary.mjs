import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { runChild } from '../child.mjs'
import { root } from '../root-command.mjs'

const minute = 60_000

/**
 * Installs a major version of Node below .artifacts/ if it is missing, and returns the path of its binary. The npm
 * package `node` contains it. Delete the folder to get a newer release of the same major version.
 */
export async function nodeBinary(major) {
  const folder = join(root, '.artifacts', `node-${major}`)
  const binary = join(folder, 'node_modules/node/bin/node')
  if (existsSync(binary)) return binary
  console.log(`installing node@${major} into ${folder}`)
  mkdirSync(folder, { recursive: true })
  const args = [
    'install',
    '--prefix',
    folder,
    '--no-save',
    '--no-package-lock',
    '--ignore-scripts=false',
    `node@${major}`,
  ]
  const { output } = await runChild('npm', args, { cwd: folder, limitMs: 5 * minute })
  if (!existsSync(binary)) throw new Error(`node@${major} is not installed:\n${output}`)
  return binary
}
