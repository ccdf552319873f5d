// Writes the public types of each package, as built, without comments: npm run api. The reports are committed, so that a
// pull request shows each change of a public type. With --check, prints the packages whose report is out of date.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root } from '../root-command.mjs'

const folder = join(root, 'api')
const COMMENT = /^[\t ]*\/\*\*[\s\S]*?\*\/\n/gm

const reports = readdirSync(join(root, 'packages')).map((name) => [join(folder, `${name}.d.ts`), reportOf(name)])

if (process.argv.includes('--check')) {
  const written = readdirSync(folder).map((name) => join(folder, name))
  const old = reports.filter(([path, text]) => !existsSync(path) || readFileSync(path, 'utf8') !== text)
  const gone = written.filter((path) => !reports.some(([one]) => one === path))
  for (const path of [...old.map(([path]) => path), ...gone]) console.error(`${relative(root, path)}: npm run api`)
  process.exitCode = old.length + gone.length === 0 ? 0 : 1
} else {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [path, text] of reports) writeFileSync(path, text)
}

/** Returns the types of a built package. */
function reportOf(name) {
  const types = join(root, 'packages', name, 'dist/cjs')
  const files = readdirSync(types, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.d.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
  return files
    .sort()
    .map((file) => `// ${relative(types, file)}\n${withoutComments(readFileSync(file, 'utf8'))}`)
    .join('\n')
}

function withoutComments(text) {
  return `${text
    .replace(COMMENT, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n`
}
