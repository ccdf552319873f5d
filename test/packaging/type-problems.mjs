// Runs @arethetypeswrong on tarballs in one process, because each process needs seconds to load a compiler:
// node type-problems.mjs <tarball> … Prints JSON: what is wrong under a resolution mode, or '', for each tarball.
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const folder = pathToFileURL(`${import.meta.dirname}/../../node_modules/@arethetypeswrong/`)
// its own command, without the command line
const { checkPackage, createPackageFromTarballData } = await import(new URL('core/dist/index.js', folder))
const { getExitCode } = await import(new URL('cli/dist/getExitCode.js', folder))
const { typed } = await import(new URL('cli/dist/render/index.js', folder))
const { applyProfile } = await import(new URL('cli/dist/profiles.js', folder))

const options = { format: 'ascii', emoji: false, summary: true, ignoreRules: [] }
applyProfile('strict', options)

const problems = {}
for (const path of process.argv.slice(2)) {
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(path))))
  if (!analysis.types) problems[path] = 'it has no types'
  else problems[path] = getExitCode(analysis, options) === 0 ? '' : await typed(analysis, options)
}
console.log(JSON.stringify(problems))
