// Fails if the source or the manifest of a package differs from a branch and no changeset was added or changed:
// node tools/release/versions/require-changeset.mjs <branch>, in the folder of a repository. A changeset that names no
// package counts too. A commit that changes the version is a release, and needs none.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { isChangeset } from './changelog.mjs'

const git = (...args) => execFileSync('git', args, { encoding: 'utf8' })
const versionIn = (manifest) => JSON.parse(manifest).version

const [branch] = process.argv.slice(2)
const base = git('merge-base', branch, 'HEAD').trim()
const kept = git('diff', '--name-only', '--no-renames', '--diff-filter=d', base, 'HEAD').split('\n')
const changed = git('diff', '--name-only', '--no-renames', base, 'HEAD').split('\n')

const sources = changed.filter((path) => /^packages\/[^/]+\/(src\/|package\.json$)/.test(path))
const isRelease = versionIn(git('show', `${base}:package.json`)) !== versionIn(readFileSync('package.json', 'utf8'))

if (sources.length > 0 && !isRelease && !kept.some(isChangeset)) {
  const folders = [...new Set(sources.map((path) => path.split('/')[1]))]
  console.error(`expected a changeset, because these packages changed: ${folders.join(', ')}
Describe the change for users with \`npm run changeset\`, or state with \`npm run changeset -- --empty\` that they notice
nothing, and commit the file. See .changeset/README.md.`)
  process.exitCode = 1
}
