import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../../repository.ts'

const HOOK = require.resolve('./typescript-hook.cjs')
const HOOKS = pathToFileURL(join(root, 'test/docs/typescript-hooks.mjs')).href
const REGISTER = `data:text/javascript,import{register}from"node:module";register(${JSON.stringify(HOOKS)})`

export type Format = 'cjs' | 'esm'

export interface EndedScript {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs a script in its own Node process on the source of the packages, and returns how it ended. `modules` are the
 * names under which the script finds packages. The script may use top-level `await`: as CommonJS it is the body of an
 * async function, as ESM a module. A script that takes longer than `timeoutMs` is killed, and has the code null.
 */
export function endOf(
  format: Format,
  { modules, script }: { modules: Readonly<Record<string, string>>; script: string },
  timeoutMs = 60_000,
): Promise<EndedScript> {
  const args = format === 'cjs' ? ['-r', HOOK] : ['--import', REGISTER, '--input-type=module']
  const imports = Object.entries(modules).map(([name, from]) =>
    format === 'cjs' ? `const ${name} = require('${from}')` : `import * as ${name} from '${from}'`,
  )
  const text = [...imports, ...(format === 'cjs' ? ['void (async () => {', script, '})()'] : [script])].join('\n')
  const options = { cwd: root, timeout: timeoutMs, killSignal: 'SIGKILL' } as const
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['--conditions=@sluice/source', ...args, '-e', text, '--', 'script'],
      options,
      (_error, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    )
  })
}
