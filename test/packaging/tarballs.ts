import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Manifest, packages, readManifest, root } from '../repository.ts'
import { mustRun } from './command.ts'

/** Longest time for packing, on a busy machine. Tests that pack have 180 s or more. */
const PACK_MS = 150_000

export interface Tarball {
  readonly name: string
  /** Absolute path. */
  readonly path: string
  /** Contained files, as paths relative to the package folder. */
  readonly files: readonly string[]
  readonly unpackedSize: number
}

const packer = join(root, 'tools/release/pack-all.mjs')

/** Packs our packages into `folder`, as they are published. */
export async function packPackages(folder: string): Promise<Tarball[]> {
  return JSON.parse(await mustRun(process.execPath, [packer, '--json', folder], root, PACK_MS))
}

/** Packs all third-party dependencies of our packages from node_modules, without network access. */
export function packForeignDependencies(folder: string): Promise<Tarball[]> {
  const folders = new Map(packages.flatMap(({ manifest, folder: home }) => [...closureFolders(manifest, home)]))
  const foreign = [...folders].filter(([name]) => !packages.some((own) => own.name === name))
  return pack(
    foreign.map(([, source]) => source),
    folder,
  )
}

/** Packs packages and all of their dependencies from node_modules, without network access. */
export function packInstalled(names: readonly string[], folder: string): Promise<Tarball[]> {
  const reached = names.flatMap((name) => [name, ...closureOf(readManifest(installedFolder(name)))])
  return pack([...new Set(reached)].map(installedFolder), folder)
}

/** All transitive dependencies of the package, without the package itself. */
export function closureOf(manifest: Manifest): string[] {
  return [...closureFolders(manifest).keys()]
}

/** The folders of all transitive dependencies, by name. */
function closureFolders(manifest: Manifest, home: string = root): Map<string, string> {
  const reached = new Map<string, string>()
  const visit = ({ dependencies = {} }: Manifest, folder: string) => {
    for (const name of Object.keys(dependencies)) {
      if (reached.has(name)) continue
      // a version that differs from the one at the root
      const nested = join(folder, 'node_modules', name)
      const found = existsSync(nested) ? nested : installedFolder(name)
      reached.set(name, found)
      visit(readManifest(found), found)
    }
  }
  visit(manifest, home)
  return reached
}

export function installedFolder(name: string): string {
  return join(root, 'node_modules', name)
}

async function pack(sources: readonly string[], folder: string): Promise<Tarball[]> {
  if (sources.length === 0) return []
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder, ...sources]
  const packed: { name: string; filename: string; files: { path: string }[]; unpackedSize: number }[] = JSON.parse(
    await mustRun('npm', args, root, PACK_MS),
  )
  return packed.map(({ name, filename, files, unpackedSize }) => ({
    name,
    path: join(folder, filename),
    files: files.map((file) => file.path),
    unpackedSize,
  }))
}
