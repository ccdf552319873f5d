// Prepares a clone: installs the dependencies in package-lock.json and, with --build, builds every dist/.
// Uses only Node's own modules, because it runs before anything is installed.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runChild } from './child.mjs'
import { root, runRootCommand } from './root-command.mjs'

const readJson = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'))

requireNode(readJson('package.json').engines.node)
if (!isInstalled()) await install()
if (process.argv.includes('--build')) await build()

function requireNode(range) {
  const [major, minor] = range.match(/\d+/g).map(Number)
  const [ourMajor, ourMinor] = process.versions.node.split('.').map(Number)
  if (ourMajor > major || (ourMajor === major && ourMinor >= minor)) return
  stop(`Sluice needs Node.js ${range}, this is ${process.versions.node}`)
}

/** Compares contents, not dates: a checkout touches package-lock.json without changing the dependencies. */
function isInstalled() {
  const installedPath = 'node_modules/.package-lock.json'
  // npm writes this file last, so without it the installation is incomplete
  if (!existsSync(join(root, installedPath))) return false
  const wanted = readJson('package-lock.json').packages
  const installed = readJson(installedPath).packages
  return Object.keys(wanted).every((path) => path === '' || isSame(wanted[path], installed[path]))
}

function isSame(wanted, installed) {
  // npm skips packages for other platforms
  if (!installed) return wanted.optional === true
  const same = (field) => wanted[field] === installed[field]
  return same('version') && same('integrity') && same('link')
}

async function install() {
  console.log('installing: npm ci')
  const npm = process.env.npm_execpath
  const { code } = npm?.endsWith('npm-cli.js')
    ? await runChild(process.execPath, [npm, 'ci'], { cwd: root, show: true })
    : await runChild('npm', ['ci'], { cwd: root, show: true })
  if (code !== 0) stop('npm ci failed: the dependencies are not installed')
}

async function build() {
  const { code, output } = await runRootCommand('build', ['--output-logs=errors-only'])
  if (code !== 0) stop(`${output}\nthe build failed`)
}

function stop(message) {
  console.error(message)
  process.exit(1)
}
