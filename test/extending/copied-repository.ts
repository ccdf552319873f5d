import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Outcome, run } from '../packaging/command.ts'
import { readManifest, root } from '../repository.ts'
import { memoryFolder } from '../services/memory-folder.ts'
import type { Edit, Extension } from './extension.ts'

const COPIED = ['packages', 'test', 'tools', 'docs']
const NOT_COPIED: readonly string[] = ['node_modules', 'dist', 'extending']

// a busy machine needs many times the usual 15 s
const TIMEOUT_MS = 240_000

/** A temporary copy of the sources, in which `@sluice/*` resolves to the packages of the copy. */
export class CopiedRepository {
  readonly folder: string = realpathSync(memoryFolder('sluice-extended-'))

  constructor() {
    for (const name of COPIED) this.#copy(name)
    for (const entry of readdirSync(root, { withFileTypes: true })) {
      // not .git, which is a file in a linked worktree
      if (entry.isFile() && !entry.name.startsWith('.')) this.#copy(entry.name)
    }
    this.#link('node_modules', ['@sluice'])
    for (const name of readdirSync(join(root, 'packages'))) this.#link(`packages/${name}/node_modules`)
    this.#link('test/nest11/node_modules')
    this.#linkPackages()
  }

  /** Creates the new files of an extension, and makes its edits. */
  extend({ folder, newFiles, edits }: Extension): void {
    for (const path of newFiles) {
      const target = join(this.folder, path)
      if (existsSync(target)) throw new Error(`expected a new file, but the repository has one: ${path}`)
      mkdirSync(dirname(target), { recursive: true })
      cpSync(join(folder, `${path}.txt`), target)
    }
    for (const edit of edits) this.edit(edit)
    this.#linkPackages()
  }

  /** Throws unless the text after which the edit inserts is in the file exactly once. */
  edit({ path, after, insert }: Edit): void {
    this.#replace(path, after, after + insert)
  }

  undo({ path, after, insert }: Edit): void {
    this.#replace(path, after + insert, after)
  }

  /** Runs the tests of some files whose titles match `title`, in one process. Returns the number of passed tests. */
  async jest(files: readonly string[], title: string): Promise<Outcome & { readonly passed: number }> {
    const cache = join(this.folder, 'node_modules/.jest')
    const args = ['--runInBand', '--ci', '--cacheDirectory', cache, '--testNamePattern', title, '--runTestsByPath']
    const outcome = await this.node('node_modules/jest/bin/jest.js', ...args, ...files)
    return { ...outcome, passed: Number(/^Tests: .*?(\d+) passed/m.exec(outcome.output)?.[1] ?? 0) }
  }

  /** Checks the types of files and of everything that they import. Returns the paths of files with an error, sorted. */
  async filesWithTypeErrors(files: readonly string[]): Promise<string[]> {
    const config = { extends: './tsconfig.json', include: files }
    writeFileSync(join(this.folder, 'tsconfig.extended.json'), JSON.stringify(config))
    const args = ['-p', 'tsconfig.extended.json', '--pretty', 'false', '--singleThreaded']
    const { code, output } = await this.node('node_modules/typescript/bin/tsc', ...args)
    const paths = [...output.matchAll(/^(\S+)\(\d+,\d+\): error/gm)].map(([, path]) => path)
    if (code !== 0 && paths.length === 0) throw new Error(output)
    return [...new Set(paths)].sort()
  }

  node(...args: readonly string[]): Promise<Outcome> {
    return run(process.execPath, args, this.folder, TIMEOUT_MS)
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  #replace(path: string, before: string, after: string): void {
    const parts = readFileSync(join(this.folder, path), 'utf8').split(before)
    if (parts.length !== 2) throw new Error(`${path}: expected once, found ${parts.length - 1} times: ${before}`)
    writeFileSync(join(this.folder, path), parts.join(after))
  }

  #copy(path: string): void {
    cpSync(join(root, path), join(this.folder, path), {
      recursive: true,
      filter: (source) => !NOT_COPIED.includes(basename(source)),
    })
  }

  /** Links every package of the copy into its node_modules, as `npm install` does. */
  #linkPackages(): void {
    mkdirSync(join(this.folder, 'node_modules/@sluice'), { recursive: true })
    for (const name of readdirSync(join(this.folder, 'packages'))) {
      const folder = join(this.folder, 'packages', name)
      const link = join(this.folder, 'node_modules', readManifest(folder).name)
      if (!existsSync(link)) symlinkSync(folder, link)
    }
  }

  /** Links the entries of a folder of dependencies, except some. */
  #link(path: string, except: readonly string[] = []): void {
    if (!existsSync(join(root, path))) return
    mkdirSync(join(this.folder, path), { recursive: true })
    for (const entry of readdirSync(join(root, path))) {
      if (except.includes(entry)) continue
      symlinkSync(realpathSync(join(root, path, entry)), join(this.folder, path, entry))
    }
  }
}
