// Builds the package in the working folder: its code as ES modules into dist/esm and as CommonJS into dist/cjs, and its
// types into dist/cjs.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, posix } from 'node:path'
import { bundleTypes } from './bundle-types.mjs'
import { entriesByCondition } from './entries-by-condition.mjs'
import { writeCode } from './package-code.mjs'

const require = createRequire(import.meta.url)
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc')
const biome = join(dirname(require.resolve('@biomejs/biome/package.json')), 'bin/biome')

const { name, exports, bin = {}, peerDependenciesMeta = {} } = JSON.parse(readFileSync('package.json', 'utf8'))
const entries = Object.values(exports).filter((entry) => entry.import)
const modules = Object.fromEntries(entries.map((entry) => [nameOf(entry.import.default), entry['@sluice/source']]))
const commands = Object.fromEntries(Object.values(bin).map((path) => [nameOf(path), `./src/${nameOf(path)}.ts`]))

// otherwise output of files that have since been deleted would be published
rmSync('dist', { recursive: true, force: true })
const plugins = [entriesByCondition({ name, exports })]
await writeCode('esm', modules, { plugins })
await writeCode('cjs', { ...modules, ...commands }, { plugins })
// without it Node would read dist/cjs as ESM, because the package has "type": "module"
writeFileSync('dist/cjs/package.json', '{ "type": "commonjs" }\n')

run(tsc, '-p', 'tsconfig.json', '--singleThreaded', '--emitDeclarationOnly')
bundleTypes(
  join('dist/cjs'),
  entries.map((entry) => join(entry.require.types)),
  Object.keys(peerDependenciesMeta).filter((peer) => peerDependenciesMeta[peer].optional),
)
removeEmptyFolders('dist/cjs')
for (const entry of entries) writeModuleTypes(entry.import, entry.require)
// tabs instead of the compiler's four spaces make the installed size smaller
run(biome, 'format', '--write', `--config-path=${join(import.meta.dirname, 'published-format.json')}`, 'dist/cjs')

/** Returns the name of an entry point: `redis/index` for `./dist/esm/redis/index.js`. */
function nameOf(path) {
  return path.replace(/^\.\/dist\/\w+\//, '').replace(/\.js$/, '')
}

function removeEmptyFolders(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeEmptyFolders(join(folder, entry.name))
  }
  if (readdirSync(folder).length === 0) rmSync(folder, { recursive: true })
}

/**
 * Writes types that re-export the types of the CommonJS module, so that a name is one type in both formats. `export *`
 * omits a default export, which therefore also has a name.
 */
function writeModuleTypes({ types }, required) {
  const from = `'${posix.relative(posix.dirname(types), required.default)}'`
  const names = Object.entries(require(join(process.cwd(), required.default)))
  const [, defaultExport] = names.find(([name]) => name === 'default') ?? []
  const named = defaultExport && names.find(([name, value]) => name !== 'default' && value === defaultExport)
  if (defaultExport && !named) throw new Error(`${required.default}: the default export has no other name`)
  const text = named ? `export { ${named[0]} as default } from ${from}\n` : ''
  writeFileSync(types, `export * from ${from}\n${text}`)
}

/** Runs a Node tool, and exits with its code if it fails. */
function run(tool, ...args) {
  const { status } = spawnSync(process.execPath, [tool, ...args], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
