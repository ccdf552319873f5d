import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { runChild } from '../child.mjs'
import { root } from '../root-command.mjs'

const folder = join(root, 'test/nest/children')

/**
 * Runs the Nest tests, one process per version in parallel, because jest loads CommonJS, which Nest 12 is not. Returns
 * `{ passed, failed, notes }` like the other steps. `only` selects files whose name contains it. `….nest12.ts` is for Nest
 * 12 only: its GraphQL is not installed for 11.
 */
export async function runNest(limitMs, only = '') {
  const results = await Promise.all(['11', '12'].map((version) => runVersion(version, only, limitMs)))
  return {
    passed: results.reduce((sum, { passed }) => sum + passed, 0),
    failed: results.reduce((sum, { failed }) => sum + failed, 0),
    failures: results.flatMap(({ failures = [] }) => failures),
    notes: results.flatMap(({ notes }) => notes),
  }
}

async function runVersion(version, only, limitMs) {
  const files = readdirSync(folder).filter((file) => {
    const [, wanted = version] = /\.nest(\d+)\.ts$/.exec(file) ?? []
    return file.endsWith('.ts') && file.includes(only) && wanted === version
  })
  const load = files.map((file) => `require(${JSON.stringify(join(folder, file))})`).join('\n')
  const args = [
    '--conditions=@sluice/source',
    ...['--require', join(root, 'tools/tests/nest-register.cjs')],
    `--test-reporter=${join(root, 'tools/tests/nest-reporter.cjs')}`,
    '--test-reporter-destination=stdout',
    ...['--eval', load],
  ]
  // Node's warnings about ES modules loaded with require
  const env = { NEST: version, NODE_OPTIONS: '', NODE_NO_WARNINGS: '1' }
  const { code, output } = await runChild(process.execPath, args, { cwd: root, env, limitMs })
  return counted(`Nest ${version}`, code, output)
}

function counted(name, code, output) {
  const counts = /^\{"passed":\d+,"failed":\d+\}$/m.exec(output)?.[0]
  if (!counts)
    return { passed: 0, failed: 1, notes: [`${name} ended with code ${code} and without a report\n${output}`] }
  const { passed, failed } = JSON.parse(counts)
  const line = `${name}: ${passed} passed, ${failed} failed`
  // a failure outside of any test, or no test at all
  if (failed === 0 && (code !== 0 || passed === 0))
    return { passed, failed: 1, notes: [`${line}, code ${code}\n${output}`] }
  const failures = [...output.matchAll(/^✖ (.*)$/gm)].map(([, test]) => `${name} › ${test}`)
  return { passed, failed, notes: failed > 0 ? [output, line] : [line], failures }
}
