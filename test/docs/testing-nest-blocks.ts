import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { transform } from '@swc/core'
import { root } from '../repository.ts'
import { pages, pageText } from './blocks.ts'

const run = promisify(execFile)
const BLOCK = /^```ts nest\n([\s\S]*?)^```$/gm
const legacy = { legacyDecorator: true, decoratorMetadata: true }
const jsc = { target: 'es2022', parser: { syntax: 'typescript', decorators: true }, transform: legacy } as const

/** Blocks marked `nest`: they need legacy decorators, for which Node and the compiler are configured separately. */
export interface NestBlocks {
  /** JavaScript files, one per block, named by line number. */
  readonly files: readonly string[]
  /** A module that loads the suite's source and then the block given as argument. */
  readonly loader: string
}

/** Writes the blocks of a page into a separate folder. */
export async function writeNestBlocks(page: string): Promise<NestBlocks> {
  const folder = emptyFolder(`nest-${page.replace(/\W+/g, '-')}`)
  const files: string[] = []
  for (const { line, source } of blocksOf(page)) {
    const file = join(folder, `line-${line}.mjs`)
    const { code } = await transform(source, { swcrc: false, jsc, module: { type: 'es6' } })
    writeFileSync(file, code)
    files.push(file)
  }
  const hooks = pathToFileURL(join(root, 'test/docs/typescript-hooks.mjs'))
  const loader = `import { register } from 'node:module'\nregister('${hooks}')\nawait import('file://' + process.argv[2])\n`
  writeFileSync(join(folder, 'load.mjs'), loader)
  return { files, loader: join(folder, 'load.mjs') }
}

/** Writes a tsconfig.json that checks the blocks of all pages and the tests of Nest. Returns its path. */
export function writeNestTypes(): string {
  const folder = emptyFolder('nest-types')
  for (const page of pages) {
    for (const { line, source } of blocksOf(page)) {
      writeFileSync(join(folder, `${page.replace(/\W+/g, '-')}-line-${line}.ts`), source)
    }
  }
  const compilerOptions = { experimentalDecorators: true, emitDecoratorMetadata: true, noUnusedLocals: false }
  const include = ['*.ts', '../../test/nest', '../../test/packaging/consumers/typed/nest.mts']
  const tsconfig = { extends: '../../tsconfig.json', compilerOptions, include, exclude: [] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
  return join(folder, 'tsconfig.json')
}

function emptyFolder(name: string): string {
  const folder = join(root, '.artifacts', name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return folder
}

function blocksOf(page: string): { readonly line: number; readonly source: string }[] {
  const text = pageText(page)
  return [...text.matchAll(BLOCK)].map(({ 1: source, index }) => {
    return { line: text.slice(0, index).split('\n').length, source }
  })
}

/** Returns the output of a child process that failed, or an empty string. `more` extends the environment. */
export async function complaintsOf(args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<string> {
  const { NODE_OPTIONS: _ours, SLUICE_MODE: _mode, ...others } = process.env
  const env = { ...others, ...more }
  return run(process.execPath, args, { cwd: root, env, timeout: 110_000 }).then(
    () => '',
    (failure) => `${failure.stdout}${failure.stderr}${failure.killed ? 'it did not end by itself' : ''}`,
  )
}
