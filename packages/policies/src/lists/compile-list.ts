import { ListReport, type LoadedList } from './list-report.ts'
import { runAtOnce } from './steps.ts'

/**
 * Compiles the entries of a policy file. Problems have the line 1 and the path `[index]`; `parsePolicies` reports them
 * with their positions.
 */
export function compileList(entries: readonly string[]): LoadedList {
  const report = new ListReport()
  for (const [index, entry] of entries.entries()) report.add(entry.trim(), 1, `[${index}]`)
  return runAtOnce(report.build())
}
