import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packages, root } from '../../repository.ts'
import { memoryFolder } from '../../services/memory-folder.ts'
import { mustRun } from '../command.ts'
import { installedFolder, packInstalled, packPackages } from '../tarballs.ts'

// on a busy machine; beforeAll of the tests has 400 s
const INSTALL_MS = 300_000
const TYPES = ['@types/express', '@types/koa', '@types/node', '@types/pg']

/**
 * Empty folders in which pnpm installs our tarballs without network access. pnpm hoists nothing: a project resolves only
 * what its own package.json lists.
 *
 * - `app` depends on all packages, and has the sources of `test/packaging/strangers/app`;
 * - `projects/<name>` depends on one package and on its peers;
 * - `bare/<name>` depends on one package and on those of its peers that are not optional.
 */
export class StrangerWorkspace implements Disposable {
  /** Absolute path. */
  readonly folder: string = memoryFolder('sluice-strangers-')
  readonly app: string = join(this.folder, 'app')
  readonly projects: string = join(this.folder, 'projects')
  readonly #specifiers = new Map<string, string>()

  private constructor() {}

  static async install(): Promise<StrangerWorkspace> {
    const workspace = new StrangerWorkspace()
    await workspace.#pack()
    workspace.#write()
    const pnpm = join(installedFolder('pnpm'), 'bin/pnpm.cjs')
    await mustRun(process.execPath, [pnpm, 'install', '--offline'], workspace.folder, INSTALL_MS)
    return workspace
  }

  /** Specifiers that install everything from this machine: tarballs, or links to this repository. By package. */
  get specifiers(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#specifiers)
  }

  /** Names of all entry points of all packages. */
  async entries(): Promise<readonly string[]> {
    const show = "console.log(JSON.stringify(require('./entries.cjs')))"
    return JSON.parse(await mustRun(process.execPath, ['-e', show], this.app))
  }

  async #pack(): Promise<void> {
    const tarballs = join(this.folder, 'tarballs')
    mkdirSync(tarballs)
    const packed = [...(await packPackages(tarballs)), ...(await packInstalled(TYPES, tarballs))]
    for (const { name, path } of packed) this.#specifiers.set(name, `file:${path}`)
    for (const { manifest } of packages) {
      for (const name of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
        if (!this.#specifiers.has(name)) this.#specifiers.set(name, `link:${folderOf(name)}`)
      }
    }
  }

  #write(): void {
    const overrides = this.specifiers
    this.#writeManifest('.', { name: 'strangers', pnpm: { overrides } })
    writeFileSync(join(this.folder, 'pnpm-workspace.yaml'), "packages: ['app', 'projects/*', 'bare/*']\n")
    const settings = [
      ...['auto-install-peers=false', 'strict-peer-dependencies=false', 'store-dir=store'],
      // with more, a project would have the optional peers of other projects
      ...['hoist-pattern[]=@types/*', 'dedupe-peer-dependents=false'],
    ]
    writeFileSync(join(this.folder, '.npmrc'), `${settings.join('\n')}\n`)
    cpSync(join(root, 'test/packaging/strangers/app'), this.app, { recursive: true })
    this.#writeManifest('app', { name: 'app', dependencies: overrides })
    for (const { name, manifest } of packages) {
      const peers = Object.keys(manifest.peerDependencies ?? {})
      this.#writeProject('projects', name, peers)
      const isOptional = (peer: string) => manifest.peerDependenciesMeta?.[peer]?.optional
      this.#writeProject(
        'bare',
        name,
        peers.filter((peer) => !isOptional(peer)),
      )
    }
  }

  /** Writes the manifest of a project that depends on a package, on peers, and on the types of these. */
  #writeProject(place: string, name: string, peers: readonly string[]): void {
    const types = ['@types/node', ...peers.map((peer) => `@types/${peer}`)].filter((one) => one in this.specifiers)
    const dependencies = Object.fromEntries([name, ...peers, ...types].map((one) => [one, this.specifiers[one]]))
    const folder = name.replace('@sluice/', '')
    this.#writeManifest(join(place, folder), { name: `${place}-${folder}`, dependencies })
  }

  #writeManifest(place: string, manifest: object): void {
    mkdirSync(join(this.folder, place), { recursive: true })
    writeFileSync(join(this.folder, place, 'package.json'), JSON.stringify({ private: true, ...manifest }))
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Nest is version 11, because version 12 consists of ES modules, which jest loads in CommonJS from Node.js 24.9 on. */
function folderOf(name: string): string {
  const nest11 = join(root, 'test/nest11/node_modules', name)
  return existsSync(nest11) ? nest11 : installedFolder(name)
}
