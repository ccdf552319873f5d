// The long run of the fault tests: npm run test:faults. It writes its rows into docs/reliability-measurements.md.

import { runTypeScript } from '../build/typescript-program.mjs'
import { prepareServices } from './services-run.mjs'

const minute = 60_000

const { failed, notes } = await prepareServices(10 * minute)
if (failed > 0) {
  console.error(notes.join('\n'))
  process.exit(1)
}
const run = 'report().then((misses) => process.exit(misses === 0 ? 0 : 1))'
const { code } = await runTypeScript('faults/report/report.ts', run, { show: true, limitMs: 60 * minute })
process.exitCode = code
