// Runs the tests in every supported Node version: npm run test:matrix -- [major version …] [jest arguments …]
import { fork } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nodeBinary } from './node-binary.mjs'
import { root, runRootCommand } from './root-command.mjs'

const supported = ['20', '22', '24']
const minute = 60_000

const wanted = process.argv.slice(2).filter((arg) => /^\d+$/.test(arg))
const jestArgs = process.argv.slice(2).filter((arg) => !/^\d+$/.test(arg))

const build = await runRootCommand('build', ['--output-logs=errors-only'], { limitMs: 5 * minute })
if (build.code !== 0) {
  console.error(`${build.output}\nthe build failed`)
  process.exit(1)
}

const lines = []
for (const major of wanted.length > 0 ? wanted : supported) {
  console.log(`\n==== Node ${major}`)
  const { passed, failed } = await testOn(major)
  lines.push(`Node ${major}: ${passed} passed, ${failed} failed`)
  if (failed > 0) process.exitCode = 1
}
console.log(`\n${lines.join('\n')}`)

/** Runs the test steps in a process of this Node version, which all child processes of the tests use as well. */
async function testOn(major) {
  const execPath = await nodeBinary(major)
  const env = { ...process.env, PATH: `${dirname(execPath)}${delimiter}${process.env.PATH}` }
  const child = fork(fileURLToPath(new URL('matrix-child.mjs', import.meta.url)), jestArgs, {
    execPath,
    env,
    cwd: root,
  })
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
