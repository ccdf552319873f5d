import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from '@jest/globals'
import { root } from '../../repository.ts'
import { memoryFolder } from '../../services/memory-folder.ts'
import { mustRun, type Outcome, run } from '../command.ts'

const SOURCE = 'packages/redis/src/index.ts'
const EMPTY = '---\n---\n'

/** A repository with a branch `main`, a branch with one more commit, and a commit on `main` since they parted. */
class Branch {
  readonly folder: string = memoryFolder('sluice-branch-')

  async commit(files: Readonly<Record<string, string | undefined>>): Promise<void> {
    for (const [path, text] of Object.entries(files)) {
      const target = join(this.folder, path)
      mkdirSync(dirname(target), { recursive: true })
      if (text === undefined) rmSync(target)
      else writeFileSync(target, text)
    }
    await this.git('add', '--all')
    await this.git('-c', 'user.name=test', '-c', 'user.email=test@example.com', 'commit', '--quiet', '--message', 'x')
  }

  git(...args: readonly string[]): Promise<string> {
    return mustRun('git', args, this.folder)
  }

  /** Commits changes to a branch, and checks the branch against `main`. */
  async check(files: Readonly<Record<string, string | undefined>>): Promise<Outcome> {
    await this.git('init', '--quiet', '--initial-branch', 'main')
    const before = { [SOURCE]: 'old', '.changeset/earlier.md': EMPTY, '.changeset/README.md': 'old' }
    await this.commit({ 'package.json': '{ "version": "0.1.0" }', ...before })
    await this.git('checkout', '--quiet', '-b', 'change')
    await this.commit(files)
    await this.git('checkout', '--quiet', 'main')
    await this.commit({ 'packages/express/src/index.ts': 'new', '.changeset/of-main.md': EMPTY })
    await this.git('checkout', '--quiet', 'change')
    return run(process.execPath, [join(root, 'tools/release/versions/require-changeset.mjs'), 'main'], this.folder)
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

test.each([
  ['the source of a package', { [SOURCE]: 'new' }],
  ['a deleted source', { [SOURCE]: undefined }],
  ['the manifest of a package', { 'packages/redis/package.json': '{}' }],
  ['a source and the page about changesets', { [SOURCE]: 'new', '.changeset/README.md': 'new' }],
  ['a source without the changeset of an earlier change', { [SOURCE]: 'new', '.changeset/earlier.md': undefined }],
])('a branch that changes %s needs a changeset', async (_, files) => {
  using branch = new Branch()
  const { code, output } = await branch.check(files)
  expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining('these packages changed: redis\n') })
})

test.each([
  ['a changeset', { [SOURCE]: 'new', '.changeset/new.md': '---\n"@sluice/redis": patch\n---\n\nCorrect it.\n' }],
  ['a changeset that names no package', { [SOURCE]: 'new', '.changeset/new.md': EMPTY }],
  [
    'more text in the changeset of an earlier change',
    { [SOURCE]: 'new', '.changeset/earlier.md': `${EMPTY}\nMore.\n` },
  ],
  ['no change of a package except its README', { 'packages/redis/README.md': 'new', 'test/redis.test.ts': 'new' }],
  ['a new version', { [SOURCE]: 'new', 'package.json': '{ "version": "0.2.0" }', '.changeset/earlier.md': undefined }],
])('a branch with %s passes', async (_, files) => {
  using branch = new Branch()
  expect(await branch.check(files)).toMatchObject({ code: 0, output: '' })
})
