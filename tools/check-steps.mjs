import { runRootCommand } from './root-command.mjs'
import { together } from './run-steps.mjs'

const minute = 60_000

/** The checks of source files that run no tests, in parallel. */
export const checkSteps = together(
  ['typecheck', 'typecheck:page', 'lint', 'lint:prose', 'knip'].map((name) => ({ name, run: command(name) })),
)

/** A step that counts as one test; its whole output is shown if it fails. */
export function command(name, moreArgs) {
  return async () => {
    const { code, output } = await runRootCommand(name, moreArgs, { limitMs: 5 * minute })
    return code === 0 ? { passed: 1, failed: 0, notes: [] } : { passed: 0, failed: 1, notes: [output] }
  }
}
