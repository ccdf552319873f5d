import { join } from 'node:path'
import { root } from '../../repository.ts'
import { run } from '../command.ts'

const OLDEST = join(import.meta.dirname, 'tools/oldest/node_modules')

export interface JestRun {
  readonly version: 29 | 30
  readonly environment: 'node' | 'jsdom'
  readonly isEsm: boolean
}

/** Every version of jest with the configuration in `docs/runtimes.md`, in every environment, with both kinds of modules. */
export const jestRuns: readonly JestRun[] = ([29, 30] as const).flatMap((version) =>
  (['node', 'jsdom'] as const).flatMap((environment) =>
    [false, true].map((isEsm) => ({ version, environment, isEsm })),
  ),
)

/**
 * Runs the tests in the folder of a stranger's application, with the option that reports what the packages leave open.
 * Returns the output without the times, in which `open handle` is the start of such a report.
 */
export async function outputOfJest({ version, environment, isEsm }: JestRun, app: string): Promise<string> {
  const modules = version === 29 ? OLDEST : join(root, 'node_modules')
  const env = join(modules, `jest-environment-${environment}`)
  const match = isEsm ? '**/*.test.mjs' : '**/*.test.js'
  const flags = isEsm ? ['--experimental-vm-modules', '--no-warnings'] : []
  const tests = ['--ci', '--detectOpenHandles', '--testMatch', match, '--env', env, '--rootDir', '.']
  // jest 29 reads the browser build of yaml in jsdom, which is an ES module
  const isOldJsdom = version === 29 && environment === 'jsdom'
  const options = isOldJsdom ? ['--testEnvironmentOptions', '{"customExportConditions":["node"]}'] : []
  const bin = join(modules, 'jest/bin/jest.js')
  const { code, output } = await run(process.execPath, [...flags, bin, ...tests, ...options], app)
  return `${output}\nexit code ${code}`
}
