import { dirname, join } from 'node:path'

const PLAIN = ['@sluice/source', 'import', 'require']

/**
 * Returns a plugin for the entry points of a package that are different files under different conditions, such as
 * `workerd`. The other modules of the package import such an entry point by its public name, as its users do, so that
 * the runtime or the bundler chooses the file. Otherwise the file for Node.js would become a part of them.
 */
export function entriesByCondition({ name, exports }) {
  const chosen = Object.entries(exports)
    .filter(([, way]) => way.import && Object.keys(way).some((condition) => !PLAIN.includes(condition)))
    .map(([path, way]) => ({ id: name + path.slice(1), file: join(process.cwd(), way['@sluice/source']) }))
  return {
    name: 'entries-by-condition',
    resolveId(module, importer) {
      if (importer === undefined || !module.startsWith('.')) return null
      const path = join(dirname(importer), module)
      const entry = chosen.find(({ file }) => isBelow(dirname(file), path))
      if (entry === undefined || isBelow(dirname(entry.file), importer)) return null
      if (path !== entry.file) throw new Error(`${importer}: import ${entry.file} instead of ${module}`)
      return { id: entry.id, external: true }
    },
  }
}

function isBelow(folder, path) {
  return path.startsWith(join(folder, '/'))
}
