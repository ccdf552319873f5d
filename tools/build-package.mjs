// Builds the package in the working folder: its code and its types as CommonJS into dist/cjs, and into dist/esm what
// gives the same to those who import, so that a process has one copy of it however it is loaded.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, posix } from 'node:path'

const require = createRequire(import.meta.url)
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc')
const biome = join(dirname(require.resolve('@biomejs/biome/package.json')), 'bin/biome')
// types have the comments, for the editor of whoever uses them
const emits = [
  ['--declaration', 'false', '--isolatedDeclarations', 'false', '--removeComments'],
  ['--emitDeclarationOnly'],
]
// what an earlier build left of a file since deleted would be published
rmSync('dist', { recursive: true, force: true })
for (const flags of emits) run(tsc, '-p', 'tsconfig.json', ...flags)
// a tab for each level where the compiler writes four spaces: a tenth of what users install
run(biome, 'format', '--write', `--config-path=${join(import.meta.dirname, 'published-format.json')}`, 'dist/cjs')
// without it Node would read dist/cjs as ESM, as the package says "type": "module"
writeFileSync('dist/cjs/package.json', '{ "type": "commonjs" }\n')

const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
for (const entry of Object.values(exports)) if (entry.import) writeImport(entry.import, entry.require.default)

/** Runs a tool of Node, and ends as it does where it fails. */
function run(tool, ...args) {
  const { status } = spawnSync(process.execPath, [tool, ...args], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

/** A module that gives what the CommonJS module gives, by name: no tool has to find the names out. */
function writeImport({ default: module, types }, required) {
  const names = Object.keys(require(join(process.cwd(), required)))
  const from = `'${posix.relative(posix.dirname(module), required)}'`
  mkdirSync(dirname(module), { recursive: true })
  writeFileSync(module, `export { ${names.join(', ')} } from ${from}\n`)
  writeFileSync(types, `export * from ${from}\n`)
}
