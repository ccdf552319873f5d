// Runs the tests in every supported Node version, or with other servers, or the faults of Redis with other clients:
// npm run test:matrix -- [major version of Node | redis@8 | valkey@8 | valkey@9 | node-redis | iovalkey | valkey-glide
// …] [jest arguments …]
import { fork } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root, runRootCommand } from '../root-command.mjs'
import { nodeBinary } from './node-binary.mjs'
import { relatedTests } from './related-tests.mjs'
import { serverFolder, serverNames } from './server-binary.mjs'

const supported = ['20', '22', '24']
/** Clients of Redis, beside ioredis, with which the applications of the tests of faults can run. */
const clients = ['node-redis', 'iovalkey', 'valkey-glide']
const faults = ['stalls', 'paths', 'crashes', 'errors', 'failovers', 'clusters'].map(
  (name) => `test/faults/${name}.test.ts`,
)
const minute = 60_000

const args = process.argv.slice(2)
const isServer = (arg) => serverNames.includes(arg)
const isClient = (arg) => clients.includes(arg)
const wanted = args.filter((arg) => /^\d+$/.test(arg) || isServer(arg) || isClient(arg))
const jestArgs = args.filter((arg) => !wanted.includes(arg))

const build = await runRootCommand('build', ['--output-logs=errors-only'], { limitMs: 5 * minute })
if (build.code !== 0) {
  console.error(`${build.output}\nthe build failed`)
  process.exit(1)
}

const lines = []
for (const part of wanted.length > 0 ? wanted : supported) {
  const name = isServer(part) || isClient(part) ? part : `Node ${part}`
  console.log(`\n==== ${name}`)
  const run = isServer(part) ? testOnServer : isClient(part) ? testWithClient : testOnNode
  const { passed, failed, failures = [] } = await run(part)
  lines.push(`${name}: ${passed} passed, ${failed} failed`, ...failures)
  if (failed > 0) process.exitCode = 1
}
console.log(`\n${lines.join('\n')}`)

async function testOnNode(major) {
  const execPath = await nodeBinary(major)
  return testWith(execPath, dirname(execPath), jestArgs)
}

/** Runs the tests that start a server: all that import it, directly or through other files. */
async function testOnServer(name) {
  const tests = relatedTests(['test/services/redis/redis-binary.ts'])
  return testWith(process.execPath, await serverFolder(name), jestArgs.length > 0 ? jestArgs : tests)
}

/** Runs the tests of faults, whose applications use this client of Redis. */
function testWithClient(name) {
  const env = { FAULT_CLIENT: name }
  return testWith(process.execPath, dirname(process.execPath), jestArgs.length > 0 ? jestArgs : faults, env)
}

/**
 * Runs the test steps in a process of this Node binary, which all child processes of the tests use as well. Programs
 * in `folder` come before others of the same name.
 */
function testWith(execPath, folder, args, added = {}) {
  const env = { ...process.env, ...added, PATH: `${folder}${delimiter}${process.env.PATH}` }
  const child = fork(fileURLToPath(new URL('matrix-child.mjs', import.meta.url)), args, { execPath, env, cwd: root })
  return new Promise((resolve) => {
    // a process that exits without reporting counts has failed
    let counts = { passed: 0, failed: 1 }
    child.once('message', (message) => {
      counts = message
    })
    child.once('error', (error) => console.error(error.message))
    child.once('close', () => resolve(counts))
  })
}
