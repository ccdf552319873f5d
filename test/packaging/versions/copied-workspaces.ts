import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { filesBelow, type Manifest, root } from '../../repository.ts'
import { memoryFolder } from '../../services/memory-folder.ts'
import { type Outcome, run } from '../command.ts'

type Lock = { readonly packages: Readonly<Record<string, Manifest>> }

const OTHER_FILES = [
  ...['package-lock.json', '.npmrc', 'CHANGELOG.md', 'docs/cli.md', '.changeset/config.json', '.changeset/README.md'],
  ...['packages/cli/src/version.ts', 'packages/insight/src/live/report/version.ts'],
  'test/extending/framework/files/packages/router/package.json.txt',
]

/** A temporary copy of the manifests, the lock and the changelog, without changesets. */
export class CopiedWorkspaces {
  readonly folder: string = memoryFolder('sluice-versions-')
  /** Folders of the root and of all workspaces, relative to the root, as in the lock. */
  readonly homes: readonly string[] = Object.keys(lockIn(root).packages).filter(
    (home) => !home.includes('node_modules'),
  )

  constructor() {
    for (const path of [...this.homes.map((home) => join(home, 'package.json')), ...OTHER_FILES]) {
      mkdirSync(join(this.folder, dirname(path)), { recursive: true })
      cpSync(join(root, path), join(this.folder, path))
    }
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), 'utf8')
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.folder, path), text)
  }

  /** Adds a changeset. `kinds`: kind of the change of each package. */
  change(id: string, kinds: Readonly<Record<string, string>>, summary: string): void {
    const lines = Object.entries(kinds).map(([name, kind]) => `"@sluice/${name}": ${kind}\n`)
    this.write(`.changeset/${id}.md`, `---\n${lines.join('')}---\n\n${summary}\n`)
  }

  get changesets(): string[] {
    return readdirSync(join(this.folder, '.changeset')).filter((name) => !OTHER_FILES.includes(`.changeset/${name}`))
  }

  get changelogs(): string[] {
    return filesBelow(this.folder).filter((path) => path.endsWith('CHANGELOG.md'))
  }

  /** Runs a script of `tools/release/versions` on the copy. */
  run(script: string, ...args: readonly string[]): Promise<Outcome> {
    const path = join(root, 'tools/release/versions', script)
    return run(process.execPath, [path, ...args, this.folder], this.folder)
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** The lock of a repository. */
export function lockIn(folder: string): Lock {
  return JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'))
}
