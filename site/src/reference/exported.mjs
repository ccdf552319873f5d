import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { root, textOf } from '../repository.mjs'

/** Entries for authors of adapters and backends: their names are internal to applications. */
const FOR_AUTHORS =
  /^(?:(?:limiter-core|fleet|fetch|node-http|counters)\/(?:backend|http|adapter|shared|leases|sync)|http(?:\/overload)?)$/
/** Helpers that the packages share. They are exported for adapters only. */
const HELPERS = /\/contracts\/maybe-promise\.ts$/

/** The entries of all packages with their exported symbols, and the type checker that resolves the types. */
export function exported() {
  const entries = readdirSync(join(root, 'packages')).flatMap(entriesOf)
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root)
  const program = ts.createProgram(
    entries.map(({ path }) => path),
    options,
  )
  const checker = program.getTypeChecker()
  for (const entry of entries) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(entry.path))
    const symbols = checker
      .getExportsOfModule(module)
      .map((symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol))
    // a default export has a name, too
    entry.symbols = [...new Set(symbols)]
      .filter((symbol) => !HELPERS.test(fileOf(symbol)) || symbol.flags & ts.SymbolFlags.TypeAlias)
      .sort((one, other) => one.name.localeCompare(other.name))
  }
  return { entries, checker }
}

function entriesOf(folder) {
  const { name, exports } = JSON.parse(textOf(`packages/${folder}/package.json`))
  return Object.entries(exports).flatMap(([entry, { '@sluice/source': source }]) => {
    if (source === undefined || FOR_AUTHORS.test(join(folder, entry))) return []
    // what all adapters export is all that applications use of this package
    const imported = entry === './shared' ? name : join(name, entry)
    return [{ folder, name: imported, path: join(root, 'packages', folder, source) }]
  })
}

/** The file that declares a symbol, from the root. */
export function fileOf(symbol) {
  return symbol.declarations[0].getSourceFile().fileName.slice(root.length)
}
