import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { RunReport } from '@sluice/quotas/budgets'
import { run } from './run.ts'

export { run }

/** Describes who has spent what, and why it ended. */
export function billOf({ name, spent, end, children }: RunReport): string {
  const why = end ? `${end.bound}${end.tool === undefined ? '' : ` of ${end.tool}`}, bound of ${end.budget}` : 'running'
  const line = `${name.padEnd(10)} $${spent.usd}  ${String(spent.tokens).padStart(6)} tokens  ${String(spent.calls).padStart(3)} calls  ended by ${why}`
  return [...children.map(billOf), line].join('\n')
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  console.log(billOf(await run({ usd: process.env.BUDGET || '0.05' })))
}
