// Packs every package as it is published: node tools/release/pack-all.mjs [--json] [folder], default `tarballs`. Prints a
// table of the tarballs and of those that each one needs, or a JSON list: name, path, files, unpackedSize. Run
// `npm run build` first.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../root-command.mjs'

const readManifest = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
const { repository, homepage, bugs } = readManifest(root)
const { values, positionals } = parseArgs({ options: { json: { type: 'boolean' } }, allowPositionals: true })
const destination = resolve(positionals[0] ?? 'tarballs')
const staging = mkdtempSync(join(tmpdir(), 'sluice-pack-'))

try {
  const staged = readdirSync(join(root, 'packages')).map(stage)
  mkdirSync(destination, { recursive: true })
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', destination, ...staged]
  const packed = JSON.parse(
    execFileSync('npm', args, { cwd: staging, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  const made = packed.map(({ name, filename, files, unpackedSize }) => {
    return { name, path: join(destination, filename), files: files.map(({ path }) => path), unpackedSize }
  })
  process.stdout.write(values.json ? `${JSON.stringify(made, undefined, 2)}\n` : tableOf(made))
} finally {
  rmSync(staging, { recursive: true, force: true })
}

function tableOf(tarballs) {
  const widest = Math.max(...tarballs.map(({ name }) => name.length))
  const lines = tarballs.map(({ name, files, unpackedSize }) => {
    const size = `${Math.ceil(unpackedSize / 1_000)} KB`
    const needed = [...neededBy(name)].map((one) => one.replace('@sluice/', '')).sort()
    const needs = needed.length === 0 ? '' : `   needs ${needed.join(', ')}`
    return `${name.padEnd(widest)} ${size.padStart(9)} ${`${files.length} files`.padStart(10)}${needs}`
  })
  const all = join(relative(process.cwd(), destination) || '.', '*.tgz')
  return `${lines.join('\n')}\n\nto install all of them in another project: npm install ${resolve(all)}\n`
}

/** Returns the packages of this repository that a package cannot be installed without. */
function neededBy(name) {
  const { dependencies = {} } = readManifest(join(root, 'packages', name.replace('@sluice/', '')))
  const own = Object.keys(dependencies).filter((one) => one.startsWith('@sluice/'))
  return new Set(own.flatMap((one) => [one, ...neededBy(one)]))
}

/** Copies the files that a package publishes, with the manifest that is published. */
function stage(name) {
  const source = join(root, 'packages', name)
  if (!existsSync(join(source, 'dist'))) throw new Error(`${name} has no dist/: npm run build comes before this`)
  const folder = join(staging, name)
  const { files } = readManifest(source)
  for (const each of [...files, 'README.md', 'LICENSE'])
    cpSync(join(source, each), join(folder, each), { recursive: true })
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(publishedManifest(source, name), undefined, 2)}\n`)
  return folder
}

/**
 * Removes fields that only this repository uses: scripts, and the export condition for the source. Adds the types of
 * subpaths for compilers that do not read `exports`, and the versions of peers among our packages.
 */
function publishedManifest(source, name) {
  const { scripts: _, exports, ...manifest } = readManifest(source)
  const ways = Object.entries(exports).map(([path, way]) => [path, typeof way === 'string' ? way : published(way)])
  const typesVersions = typesOfSubpaths(exports)
  return {
    ...manifest,
    repository: { ...repository, directory: `packages/${name}` },
    homepage,
    bugs,
    publishConfig: { access: 'public', provenance: true },
    ...(manifest.peerDependencies && { peerDependencies: pinnedPeers(manifest) }),
    exports: Object.fromEntries(ways),
    ...(typesVersions && { typesVersions }),
  }
}

/** Our packages are peers in one version, but "*" in the manifests: changesets takes a new range of a peer as breaking. */
function pinnedPeers({ peerDependencies, version }) {
  const pinned = ([name, range]) => [name, name.startsWith('@sluice/') ? version : range]
  return Object.fromEntries(Object.entries(peerDependencies).map(pinned))
}

/**
 * Returns `typesVersions` for all subpaths with types; undefined if there are none. With `moduleResolution: node10`, the
 * default of TypeScript 5 for CommonJS, a subpath is otherwise not found, and types that come from it are silently `any`.
 */
function typesOfSubpaths(exports) {
  const typed = Object.entries(exports).filter(([path, { require }]) => path !== '.' && require?.types)
  if (typed.length === 0) return undefined
  return { '*': Object.fromEntries(typed.map(([path, { require }]) => [path.replace('./', ''), [require.types]])) }
}

function published({ '@sluice/source': _, ...way }) {
  return way
}
