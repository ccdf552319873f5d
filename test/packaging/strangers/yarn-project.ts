import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packages } from '../../repository.ts'
import { mustRun } from '../command.ts'
import { installedFolder } from '../tarballs.ts'
import type { StrangerWorkspace } from './stranger-workspace.ts'

/** An empty folder in which Yarn installs our tarballs with Plug and Play, without network access. */
export class YarnProject implements Disposable {
  /** Absolute path. */
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  static async install({ folder, specifiers }: StrangerWorkspace): Promise<YarnProject> {
    const project = new YarnProject(join(folder, 'yarn'))
    mkdirSync(project.folder)
    const ours = packages.map(({ name }) => name)
    const peers = packages.flatMap(({ manifest }) => Object.keys(manifest.peerDependencies ?? {}))
    const dependencies = Object.fromEntries([...ours, ...peers].map((name) => [name, specifiers[name]]))
    const manifest = { name: 'yarn-project', private: true, dependencies, resolutions: specifiers }
    writeFileSync(join(project.folder, 'package.json'), JSON.stringify(manifest))
    const settings = ['nodeLinker: pnp', 'enableNetwork: false', 'enableTelemetry: false', 'enableGlobalCache: false']
    writeFileSync(join(project.folder, '.yarnrc.yml'), `${settings.join('\n')}\n`)
    // without it Yarn would look for a project above
    writeFileSync(join(project.folder, 'yarn.lock'), '')
    await project.#yarn('install', '--no-immutable')
    return project
  }

  /** Runs a file. Returns what it prints. */
  node(file: string): Promise<string> {
    return this.#yarn('node', file)
  }

  #yarn(...args: string[]): Promise<string> {
    return mustRun(
      process.execPath,
      [join(installedFolder('@yarnpkg/cli-dist'), 'bin/yarn.js'), ...args],
      this.folder,
      300_000,
    )
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
