import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { packages, root } from '../repository.ts'

/** A fenced block of JavaScript or TypeScript in a page of the documentation. */
export interface DocBlock {
  readonly page: string
  /** Start of the block, such as `README.md:12`. */
  readonly at: string
  readonly code: string
  /** Whether it is marked `no-run`: it is only type-checked, and its first line gives the reason. */
  readonly runs: boolean
  readonly file: string
}

const folder = join(root, '.artifacts/doc-blocks')
/** Types of modules of runtimes. */
const MODULES = '../../examples/workers/src/worker-configuration.d.ts'
/** Types of a module that newer releases of Node.js have. */
const SQLITE = '../../test/docs/node-sqlite.d.ts'
const JEST_FENCE = /^```ts jest\n([\s\S]*?)^```$/gm
const FENCE = /^```(?:ts|js|typescript|javascript)( no-run)?\n([\s\S]*?)^```$/gm

/** Pages whose code blocks are checked. */
export const pages: readonly string[] = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...packages.map(({ folder: home }) => `packages/${basename(home)}/README.md`),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/${path.replaceAll('\\', '/')}`),
].filter((page) => existsSync(join(root, page)))

export function pageText(page: string): string {
  return readFileSync(join(root, page), 'utf8')
}

function blocksOf(page: string): DocBlock[] {
  const text = pageText(page)
  return [...text.matchAll(FENCE)].map((match) => {
    const line = text.slice(0, match.index).split('\n').length
    const file = join(folder, `${page.replace(/\W+/g, '-')}-${line}.ts`)
    return { page, at: `${page}:${line}`, code: match[2], runs: match[1] === undefined, file }
  })
}

/** Returns the tests in a page, which jest runs. */
export function testsOf(page: string): { readonly line: number; readonly code: string }[] {
  const text = pageText(page)
  return [...text.matchAll(JEST_FENCE)].map(({ 1: code, index }) => {
    return { line: text.slice(0, index).split('\n').length, code }
  })
}

/** Writes each block and test as a separate module, next to a tsconfig.json that checks all of them. */
export function writeBlocks(): readonly DocBlock[] {
  const blocks = pages.flatMap(blocksOf)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  // a block without imports is a module too
  for (const { file, code } of blocks) writeFileSync(file, `${code}\nexport {}\n`)
  for (const page of pages) {
    for (const { line, code } of testsOf(page)) {
      writeFileSync(join(folder, `${page.replace(/\W+/g, '-')}-${line}.test.ts`), code)
    }
  }
  const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false }
  const tsconfig = { extends: '../../tsconfig.json', compilerOptions, include: ['*.ts', MODULES, SQLITE] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
  return blocks
}

export const tsconfigOfBlocks: string = join(folder, 'tsconfig.json')
