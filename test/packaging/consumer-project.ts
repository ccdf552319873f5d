import { cpSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { filesBelow, packages, root } from '../repository.ts'
import { memoryFolder } from '../services/memory-folder.ts'
import { mustRun } from './command.ts'
import { closureOf, installedFolder, packForeignDependencies, packPackages } from './tarballs.ts'

// on a busy machine; beforeAll of the test has 400 s
const INSTALL_MS = 300_000

// packages that a TypeScript user installs, Nest's platform, and the server of Hono
const broughtForTypes = [
  '@hono/node-server',
  '@types/express',
  '@types/koa',
  '@types/node',
  '@types/pg',
  '@nestjs/platform-express',
]

/** A user's project, outside of this repository, with our tarballs installed by npm. */
export class ConsumerProject implements Disposable {
  /** Absolute path. */
  readonly folder: string = memoryFolder('sluice-consumer-')

  private constructor() {}

  static async install(): Promise<ConsumerProject> {
    const project = new ConsumerProject()
    const { folder } = project
    writeFileSync(join(folder, 'package.json'), '{ "name": "consumer", "private": true }\n')
    cpSync(join(root, 'test/packaging/consumers'), folder, { recursive: true })
    // the same code as a module of either kind
    for (const typed of filesBelow(folder).filter((path) => path.endsWith('.mts'))) {
      cpSync(join(folder, typed), join(folder, typed.replace('.mts', '.cts')))
    }
    const tarballs = join(folder, 'tarballs')
    mkdirSync(tarballs)
    const packed = [...(await packPackages(tarballs)), ...(await packForeignDependencies(tarballs))]
    // frameworks are peers and are added below; a separate cache avoids packages of earlier runs
    const flags = ['--offline', '--no-save', '--legacy-peer-deps', '--ignore-scripts', '--cache', join(folder, 'cache')]
    await mustRun('npm', ['install', ...flags, ...packed.map(({ path }) => path)], folder, INSTALL_MS)
    project.bringWhatTheUserHas()
    return project
  }

  /** Peers and types are linked, not copied: their own dependencies are then found in this repository. */
  private bringWhatTheUserHas(): void {
    const ours = packages.map(({ name }) => name)
    const peers = packages
      .flatMap(({ manifest }) => Object.keys(manifest.peerDependencies ?? {}))
      .filter((name) => !ours.includes(name))
    for (const name of new Set([...peers, ...broughtForTypes])) {
      const place = join(this.folder, 'node_modules', name)
      mkdirSync(dirname(place), { recursive: true })
      symlinkSync(installedFolder(name), place)
    }
  }

  /** The installed files of one of our packages and of those that it depends on. */
  installedFiles(name: string): { readonly path: string; readonly bytes: number }[] {
    const own = packages.filter((each) => each.name === name)
    return [name, ...own.flatMap(({ manifest }) => closureOf(manifest))]
      .filter((each) => each.startsWith('@sluice/'))
      .map((each) => join(this.folder, 'node_modules', each))
      .flatMap((folder) => filesBelow(folder).map((path) => join(folder, path)))
      .map((path) => ({ path, bytes: statSync(path).size }))
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
