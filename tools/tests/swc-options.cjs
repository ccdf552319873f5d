// Options of swc under which tests and their child processes run the source of the packages.
const { readdirSync, readFileSync } = require('node:fs')
const { join } = require('node:path')

const packages = join(__dirname, '../../packages')
/** Entry points of packages and folders, which export from other files. */
const ENTRY =
  /[/\\]packages[/\\][^/\\]+[/\\]src[/\\](?:[^/\\]+[/\\])?(?:index|shared-exports|adapter|backend|contracts|http|leases|overload|sync)\.ts$/
const FROM = /^(?:\}|export \{.*\}) from '([^']+)'$/gm

const options = {
  swcrc: false,
  jsc: { target: 'es2022', parser: { syntax: 'typescript', decorators: true } },
  module: { type: 'commonjs' },
}

/** Entry points load a file when one of its exports is first used, because most tests use few of the exports. */
const ofEntries = { ...options, module: { ...options.module, lazy: exportedFiles() } }

/** The files and packages from which entry points export, as they name them. */
function exportedFiles() {
  const entries = readdirSync(packages).flatMap((name) => {
    const source = join(packages, name, 'src')
    const paths = readdirSync(source, { recursive: true }).map((path) => join(source, path))
    return paths.filter((path) => ENTRY.test(path))
  })
  const named = entries.flatMap((path) => [...readFileSync(path, 'utf8').matchAll(FROM)].map(([, from]) => from))
  return [...new Set(named)].sort()
}

exports.transform = { [ENTRY.source]: ['@swc/jest', ofEntries], '\\.ts$': ['@swc/jest', options] }
exports.optionsFor = (filename) => (ENTRY.test(filename) ? ofEntries : options)
