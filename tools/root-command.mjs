// The commands of the root package.json, run without a shell, so that `npm run lint` and `npm test` stay the same.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runChild } from './child.mjs'

export const root = fileURLToPath(new URL('..', import.meta.url))
const readJson = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'))

// packages whose name differs from their command
const packageOf = { tsc: 'typescript', biome: '@biomejs/biome' }
const quiet = { TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1', TURBO_NO_UPDATE_NOTIFIER: '1' }

/** Runs the root script `name` with further arguments, and `execArgv` for Node; the other options are `runChild`'s. */
export function runRootCommand(name, moreArgs = [], { execArgv = [], ...options } = {}) {
  const [command, ...args] = readJson('package.json').scripts[name].split(' ')
  const program = command === 'node' ? [] : [binOf(command)]
  const allArgs = [...execArgv, ...program, ...args, ...moreArgs]
  return runChild(process.execPath, allArgs, { cwd: root, env: quiet, ...options })
}

function binOf(command) {
  const folder = join('node_modules', packageOf[command] ?? command)
  const { bin } = readJson(join(folder, 'package.json'))
  return join(root, folder, typeof bin === 'string' ? bin : bin[command])
}
