// Turns the changesets into the next version of all packages, and into its section of CHANGELOG.md:
// node tools/release/versions/bump.mjs [folder of a repository]. Needs no network. While the version of the packages has
// no dated section, the release is that version, and nothing is bumped.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import readChangesets from '@changesets/read'
import { root } from '../../root-command.mjs'
import { isReleased, kindOf, withRelease } from './changelog.mjs'

/** Files that contain the version apart from manifests. */
const COPIES = [
  'packages/cli/src/version.ts',
  'packages/insight/src/live/report/version.ts',
  'docs/cli.md',
  // a package that test/extending adds to this repository
  'test/extending/framework/files/packages/router/package.json.txt',
]

const folder = resolve(process.argv[2] ?? root)
const read = (path) => readFileSync(join(folder, path), 'utf8')
const write = (path, text) => writeFileSync(join(folder, path), text)
const manifestOf = (home) => JSON.parse(read(join(home, 'package.json')))

const changelog = read('CHANGELOG.md')
const { version: before } = manifestOf('')
const changesets = await readChangesets(folder)
check()
const version = isReleased(changelog, before) ? bumped() : before
write('CHANGELOG.md', withRelease(changelog, version, new Date().toISOString().slice(0, 10), changesets))
for (const { id } of changesets) rmSync(join(folder, '.changeset', `${id}.md`), { force: true })
console.log(`version ${version}: review the changes and CHANGELOG.md, and commit them`)

/** Throws before anything is written: changesets deletes its files before their texts are in the changelog. */
function check() {
  const pre = '.changeset/pre.json'
  if (existsSync(join(folder, pre)))
    throw new Error(`${pre}: expected no prerelease, whose peers would be out of range`)
  const names = readdirSync(join(folder, 'packages')).map((home) => manifestOf(join('packages', home)).name)
  for (const { id, releases, summary } of changesets) {
    const unknown = releases.find(({ name }) => !names.includes(name))
    if (unknown) throw new Error(`.changeset/${id}.md: expected packages of this repository, received ${unknown.name}`)
    if (kindOf(releases) && summary.trim() === '') throw new Error(`.changeset/${id}.md: expected a text for users`)
  }
  for (const path of COPIES) expectIn(path, before)
}

/** Lets changesets write the manifests of the workspaces, and repeats their version everywhere else. */
function bumped() {
  if (!changesets.some(({ releases }) => kindOf(releases)))
    throw new Error(`.changeset: expected a change of a package, since ${before} has been released`)
  const changesetsCli = join(root, 'node_modules/@changesets/cli/bin.js')
  run(process.execPath, changesetsCli, 'version')
  const after = manifestOf('packages/limiter-core').version
  for (const path of COPIES) replaceIn(path, before, after)
  replaceIn('package.json', `"version": "${before}"`, `"version": "${after}"`)
  // changesets leaves the lock to npm, which needs no registry for packages of this repository
  run('npm', 'install', '--package-lock-only', '--offline', '--ignore-scripts')
  return after
}

function run(command, ...args) {
  execFileSync(command, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
}

function replaceIn(path, old, text) {
  expectIn(path, old)
  write(path, read(path).replaceAll(old, text))
}

function expectIn(path, old) {
  if (!read(path).includes(old)) throw new Error(`${path}: expected ${old}, which changes with each version`)
}
