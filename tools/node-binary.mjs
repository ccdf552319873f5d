import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { runChild } from './child.mjs'
import { root } from './root-command.mjs'

const minute = 60_000

/**
 * Installs a major version of Node below .artifacts/ unless it is there, and answers where its binary is. The npm
 * package `node` carries it. Delete the folder to have a newer one of the same major version.
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
