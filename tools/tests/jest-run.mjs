import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { root, runRootCommand } from '../root-command.mjs'
import { recordedSeconds } from './duration-sequencer.mjs'

// warnings of Sluice that tests provoke would look like failures; its processes and listeners still get them
const SILENT = { execArgv: ['--disable-warning=SluiceWarning'] }

/** Half of the default deadline of a backend. A waiting process is delayed by less, unless others use its cores. */
const STALLED_MS = 25

/**
 * Runs jest with its own report on the terminal, and returns `{ passed, failed, notes, failures }`. Files that fail while
 * the machine stalls run a second time, one after the other: a deadline missed during a stall passes then, and a real
 * failure fails again.
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
  // at exit, so that a run ended by a signal also cleans up
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
  const testResults = read?.testResults ?? []
  noteDurations(testResults)
  const { notes, ...counts } = count(code, read)
  return { ...counts, notes: [...notes, ...unrecorded(testResults)], stalledMs: Math.round(delay.max / 1e6) }
}

const seconds = {}
const NOTED_SECONDS = 2
const SLOW_SECONDS = 20

/** Durations of slow files for the sequencer, the longest first. */
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

/** Names slow files that run last, when the other workers have nothing left to do. */
function unrecorded(testResults) {
  const paths = testResults.map(({ name }) => relative(root, name)).filter((path) => path.endsWith('.test.ts'))
  const slow = paths.filter((path) => seconds[path] >= SLOW_SECONDS && !(path in recordedSeconds))
  return slow.map((path) => `${path} took ${seconds[path]} s, and is not in tools/tests/test-durations.json`)
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
  // a failure outside of any test
  if (code !== 0 && failed === 0) {
    return { passed, failed: 1, notes: [`jest ended with code ${code}`], failedFiles: [] }
  }
  return { passed, failed, notes, failures: [...failures, ...notes], ...failedFilesOf(report) }
}

/** Files with failures, and how many of their tests passed. Empty if a test is disabled, which a second run cannot fix. */
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

/** A skipped test does not count as passed. */
function switchedOff({ testResults }) {
  const tests = testResults.flatMap((suite) => suite.assertionResults)
  return tests.filter(({ status }) => status === 'pending' || status === 'todo').map(({ fullName }) => fullName)
}
