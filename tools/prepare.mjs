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
  const npm = process.env.npm_execpath
  const [command, ...first] = npm?.endsWith('npm-cli.js') ? [process.execPath, npm] : ['npm']
  const { code } = await reported('installing the dependencies: npm ci, about a minute', () =>
    runChild(command, [...first, 'ci'], { cwd: root, show: true }),
  )
  if (code !== 0) stop('npm ci failed: the dependencies are not installed')
}

async function build() {
  const { code, output } = await reported('building the packages: about a minute the first time', () =>
    runRootCommand('build', ['--output-logs=errors-only']),
  )
  if (code !== 0) stop(`${output}\nthe build failed`)
}

/** Prints what is done, and every ten seconds that it goes on, because npm prints nothing before its end. */
async function reported(what, run) {
  console.log(what)
  const startedAt = performance.now()
  const seconds = () => Math.round((performance.now() - startedAt) / 1_000)
  const timer = setInterval(() => console.log(`  ${seconds()} s`), 10_000)
  try {
    return await run()
  } finally {
    clearInterval(timer)
  }
}

function stop(message) {
  console.error(message)
  process.exit(1)
}
