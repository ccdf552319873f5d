import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { root, runRootCommand } from './root-command.mjs'

// warnings of Sluice that tests provoke would look like failures; its processes and listeners still get them
const SILENT = { execArgv: ['--disable-warning=SluiceWarning'] }

/** A process that only waits is held up for less, unless the machine gives its cores to others. */
const STALLED_MS = 100

/**
 * Runs jest with its own report on the terminal, and counts: `{ passed, failed, notes, failures }`. Files that fail while
 * the machine stands still run a second time, one after the other: a deadline that was missed then is no fault, and a
 * fault fails again.
 */
export async function runJest(args, limitMs) {
  const { stalledMs, ...first } = await runOnce(args, limitMs)
  const { failedFiles } = first
  if (failedFiles.length === 0 || stalledMs < STALLED_MS) return first
  console.log(`\nthe machine stood still for ${stalledMs} ms: again, alone: ${failedFiles.join(' ')}`)
  const second = await runOnce(['--runInBand', '--runTestsByPath', ...failedFiles], limitMs)
  return { ...second, passed: first.passed - first.passedBesideFailed + second.passed }
}

async function runOnce(args, limitMs) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-jest-'))
  // at the exit, so that a run that a signal ends leaves nothing either
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const report = join(folder, 'report.json')
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  const { code } = await runRootCommand('jest', [...args, '--json', `--outputFile=${report}`], {
    ...SILENT,
    show: true,
    limitMs,
  })
  delay.disable()
  const read = readReport(report)
  noteDurations(read?.testResults ?? [])
  return { ...count(code, read), stalledMs: Math.round(delay.max / 1e6) }
}

const seconds = {}
const NOTED_SECONDS = 2

/** For the sequencer: what took long, the longest first. */
function noteDurations(testResults) {
  for (const { name, startTime, endTime } of testResults) {
    const took = Math.round((endTime - startTime) / 1000)
    if (took >= NOTED_SECONDS) seconds[relative(root, name)] = took
  }
  const sorted = Object.entries(seconds).sort(([, one], [, other]) => other - one)
  const folder = join(root, '.artifacts')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'test-durations.json'), `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`)
}

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

function count(code, report) {
  if (!report) return { passed: 0, failed: 1, notes: ['jest ended without a report'], failedFiles: [] }
  const failures = namesOfFailures(report)
  const notes = switchedOff(report).map((name) => `switched off, counted as failed: ${name}`)
  const passed = report.numPassedTests
  const failed = report.numFailedTests + report.numRuntimeErrorTestSuites + notes.length
  // jest found fault outside of any test
  if (code !== 0 && failed === 0) {
    return { passed, failed: 1, notes: [`jest ended with code ${code}`], failedFiles: [] }
  }
  return { passed, failed, notes, failures: [...failures, ...notes], ...failedFilesOf(report) }
}

/** Files of which something failed, and how many of their tests passed. None where something is switched off: that stays so. */
function failedFilesOf({ testResults }) {
  if (switchedOff({ testResults }).length > 0) return { failedFiles: [], passedBesideFailed: 0 }
  const failed = testResults.filter(({ status }) => status === 'failed')
  const passed = failed.flatMap(({ assertionResults }) => assertionResults.filter(({ status }) => status === 'passed'))
  return { failedFiles: failed.map(({ name }) => relative(root, name)), passedBesideFailed: passed.length }
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
