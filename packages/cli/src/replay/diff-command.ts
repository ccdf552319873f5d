import { LogFiles } from '../log/log-files.ts'
import { RouteMatcher } from '../log/route-matcher.ts'
import { diffText } from '../report/diff-text.ts'
import { readProgress } from '../report/read-progress.ts'
import { textStyle } from '../report/text-style.ts'
import { EXIT } from '../terminal/exit-code.ts'
import { diffReport } from './build-diff-report.ts'
import { type CommandStreams, exitCodeOf } from './command-streams.ts'
import { LogDiff } from './log-diff.ts'
import { LogRequest } from './log-request.ts'
import { readPolicyFile, routesOf } from './policy-file.ts'
import type { LogOptions } from './replay-command.ts'

export interface DiffOptions extends LogOptions, CommandStreams {
  /** Logs to replay. `-` is the standard input. */
  readonly log: readonly string[]
  /** Whether to print the report as JSON. Default: false. */
  readonly json?: boolean | undefined
}

/**
 * Prints which requests and clients of a log one policy file denies and the other one admits. Returns 0, or 1 if a
 * policy file is invalid or no line of the logs could be read, or 2 for wrong arguments and unreadable files.
 */
export async function diffCommand(before: string, after: string, options: DiffOptions): Promise<number> {
  const { stdin, stdout = process.stdout, stderr = process.stderr } = options
  return exitCodeOf(async () => {
    const [old, next] = [await readPolicyFile(before), await readPolicyFile(after)]
    const routes = new RouteMatcher([...(options.routes ?? []), ...routesOf(old), ...routesOf(next)])
    const diff = new LogDiff(old, next, new LogRequest(routes, options.attributes))
    const logs: LogFiles = new LogFiles(options.log, {
      format: options.format,
      stdin,
      progress: (bytes, lines) => progress.update(bytes, lines),
    })
    const progress = readProgress(stderr, logs.totalBytes)
    const summary = await logs.read((entry) => diff.add(entry)).finally(() => progress.stop())
    const report = diffReport(diff, summary)
    stdout.write(options.json ? `${JSON.stringify(report, null, 2)}\n` : diffText(report, textStyle(stdout)))
    return report.requests > 0 ? EXIT.ok : EXIT.problems
  }, stderr)
}
