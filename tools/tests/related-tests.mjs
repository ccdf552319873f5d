import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { root } from '../root-command.mjs'

const FOLDERS = ['packages', 'test', 'examples']
const IMPORTS = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*'([^']+)'/g

/** Paths of files that differ from `base` or are not committed, relative to the root. */
export function changedFiles(base) {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
  return [...new Set([...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')])]
}

/**
 * Test files that import one of `changed`, directly or through other files, the nearest first. Jest cannot follow the
 * names of packages to their source, so that its own list of related tests is empty.
 */
export function relatedTests(changed) {
  const importers = importersOf(sourceFiles())
  const distance = new Map(changed.map((path) => [path, 0]))
  for (const [path, steps] of distance) {
    for (const importer of importers.get(path) ?? []) if (!distance.has(importer)) distance.set(importer, steps + 1)
  }
  const tests = [...distance].filter(([path]) => path.endsWith('.test.ts') && existsSync(join(root, path)))
  return tests.sort(([, one], [, other]) => one - other).map(([path]) => path)
}

function sourceFiles() {
  const isSource = (path) => /\.(ts|mts|cjs|mjs)$/.test(path) && !/(^|\/)(node_modules|dist)\//.test(path)
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .map((path) => join(folder, path))
      .filter(isSource),
  )
}

/** The files that import each file. */
function importersOf(paths) {
  const entries = packageEntries()
  const importers = new Map()
  for (const path of paths) {
    for (const [, specifier] of readFileSync(join(root, path), 'utf8').matchAll(IMPORTS)) {
      const imported = specifier.startsWith('.')
        ? relative(root, resolve(root, dirname(path), specifier))
        : entries.get(specifier)
      if (imported !== undefined) importers.set(imported, (importers.get(imported) ?? new Set()).add(path))
    }
  }
  return importers
}

/** The source file of each entry point, by the name that imports it. */
function packageEntries() {
  const manifests = readdirSync(join(root, 'packages')).map((folder) => join('packages', folder, 'package.json'))
  return new Map(
    manifests.flatMap((path) => {
      const { name, exports } = JSON.parse(readFileSync(join(root, path), 'utf8'))
      return Object.entries(exports)
        .filter(([, target]) => target['@sluice/source'])
        .map(([entry, target]) => [join(name, entry), join(dirname(path), target['@sluice/source'])])
    }),
  )
}
