import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../command.ts'
import { installedFolder } from '../tarballs.ts'
import type { StrangerWorkspace } from './stranger-workspace.ts'

export interface Setting {
  readonly compiler: Compiler
  readonly module: string
  /** Undefined for the default of the compiler. */
  readonly moduleResolution: string | undefined
}

/** Folders of the oldest TypeScript 5 that is supported, the newest one, and TypeScript 7. */
export const compilers = {
  'TypeScript 5.4': join(import.meta.dirname, 'tools/oldest/node_modules/typescript'),
  'TypeScript 5.9': join(import.meta.dirname, 'tools/typescript5/node_modules/typescript'),
  'TypeScript 7': installedFolder('typescript'),
} as const

export type Compiler = keyof typeof compilers

export const compilerNames = Object.keys(compilers) as Compiler[]

const modules = [
  ...['none', 'commonjs', 'amd', 'umd', 'system', 'es2015', 'es2020', 'es2022', 'esnext'],
  ...['node16', 'node18', 'node20', 'nodenext', 'preserve'],
]
const resolutions = [undefined, 'classic', 'node10', 'node16', 'nodenext', 'bundler']

/** Every combination of a compiler, a value of `module` and a value of `moduleResolution`. */
export const settings: readonly Setting[] = compilerNames.flatMap((compiler) =>
  modules.flatMap((module) => resolutions.map((moduleResolution) => ({ compiler, module, moduleResolution }))),
)

// the compiler does not have the value, refuses the combination, or has no import statements in it
const REFUSED = /error TS(5\d{3}|6046|1148|1259|1293)\b/

/**
 * Compiles `use.ts` and imports of all entry points in the folder of a stranger's application. Returns the errors in them
 * and in our declarations; undefined if the compiler refuses the setting, or finds no package with it.
 */
export async function errorsWith(setting: Setting, app: string): Promise<readonly string[] | undefined> {
  const { compiler, module, moduleResolution } = setting
  const config = join(app, `tsconfig.${compiler.replace(' ', '-')}.${module}.${moduleResolution ?? 'default'}.json`)
  const compilerOptions = {
    ...{ target: 'es2022', lib: ['es2022', 'esnext.disposable'], strict: true, esModuleInterop: true },
    ...{ skipLibCheck: false, noEmit: true, experimentalDecorators: true, types: ['node'] },
    ...{ module, ...(moduleResolution && { moduleResolution }) },
  }
  writeFileSync(config, JSON.stringify({ compilerOptions, files: ['use.ts', 'entries.ts'] }))
  const { output } = await run(process.execPath, [compilerOf(compiler), '-p', config, '--pretty', 'false'], app)
  if (REFUSED.test(output) || /Cannot find module 'control'/.test(output)) return undefined
  return output.split('\n').filter((line) => /^(use|entries)\.ts|@sluice\/|^error/.test(line))
}

/**
 * Compiles each entry point of each package in a project that has only the peers which are not optional. Returns the
 * errors in these imports and in our declarations.
 */
export async function errorsWithoutPeers(workspace: StrangerWorkspace): Promise<readonly string[]> {
  const { folder, app } = workspace
  const files: string[] = []
  for (const entry of await workspace.entries()) {
    const [, name] = entry.split('/')
    const file = join(folder, 'bare', name, `${entry.replaceAll('/', '-')}.ts`)
    writeFileSync(file, `export * as entry from '${entry}'\n`)
    files.push(file)
  }
  // in the folder of the application, which has the types of Node
  const config = join(app, 'tsconfig.bare.json')
  const compilerOptions = {
    ...{ target: 'es2022', lib: ['es2022', 'esnext.disposable'], module: 'nodenext', strict: true },
    ...{ skipLibCheck: false, noEmit: true, types: ['node'] },
  }
  writeFileSync(config, JSON.stringify({ compilerOptions, files }))
  const { output } = await run(process.execPath, [compilerOf('TypeScript 7'), '-p', config, '--pretty', 'false'], app)
  return output.split('\n').filter((line) => /bare\/|@sluice\/|^error/.test(line))
}

/** Writes the module that imports all entry points, and a package that every setting which reads packages finds. */
export function writeEntries(app: string, entries: readonly string[]): void {
  const control = join(app, 'node_modules/control')
  mkdirSync(control)
  writeFileSync(join(control, 'package.json'), '{ "name": "control", "version": "1.0.0", "types": "index.d.ts" }')
  writeFileSync(join(control, 'index.d.ts'), 'export declare const control: number\n')
  const imports = entries.map((entry, index) => `export * as entry${index} from '${entry}'\n`)
  writeFileSync(join(app, 'entries.ts'), `export * as control from 'control'\n${imports.join('')}`)
}

function compilerOf(compiler: Compiler): string {
  const folder = compilers[compiler]
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return join(folder, bin.tsc)
}
