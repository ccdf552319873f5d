import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { root, runRootCommand } from './root-command.mjs'

// warnings of Sluice that tests provoke would look like failures; its processes and listeners still get them
const SILENT = { execArgv: ['--disable-warning=SluiceWarning'] }

/** Runs jest with its own report on the terminal, and counts: `{ passed, failed, notes, failures }`. */
export async function runJest(args, limitMs) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-jest-'))
  // at the exit, so that a run that a signal ends leaves nothing either
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const report = join(folder, 'report.json')
  const { code } = await runRootCommand('jest', [...args, '--json', `--outputFile=${report}`], {
    ...SILENT,
    show: true,
    limitMs,
  })
  return count(code, readReport(report))
}

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

function count(code, report) {
  if (!report) return { passed: 0, failed: 1, notes: ['jest ended without a report'] }
  const failures = namesOfFailures(report)
  const notes = switchedOff(report).map((name) => `switched off, counted as failed: ${name}`)
  const passed = report.numPassedTests
  const failed = report.numFailedTests + report.numRuntimeErrorTestSuites + notes.length
  // jest found fault outside of any test
  if (code !== 0 && failed === 0) return { passed, failed: 1, notes: [`jest ended with code ${code}`] }
  return { passed, failed, notes, failures: [...failures, ...notes] }
}

function namesOfFailures({ testResults }) {
  return testResults.flatMap(({ name, status, assertionResults }) => {
    const file = relative(root, name)
    const tests = assertionResults
      .filter((test) => test.status === 'failed')
      .map(({ fullName }) => `${file} › ${fullName}`)
    return status === 'failed' && tests.length === 0 ? [file] : tests
  })
}

/** A test that is not run is not a pass. */
function switchedOff({ testResults }) {
  const tests = testResults.flatMap((suite) => suite.assertionResults)
  return tests.filter(({ status }) => status === 'pending' || status === 'todo').map(({ fullName }) => fullName)
}
