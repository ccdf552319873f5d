import { writeFile } from 'node:fs/promises'
import { messageOf, SluiceError } from '@sluice/limiter-core/backend'
import { LogFiles } from '../log/log-files.ts'
import { RouteMatcher } from '../log/route-matcher.ts'
import { readProgress } from '../report/read-progress.ts'
import { replayHtml } from '../report/replay-html.ts'
import { replayText } from '../report/replay-text.ts'
import { textStyle } from '../report/text-style.ts'
import { EXIT } from '../terminal/exit-code.ts'
import { replayReport } from './build-report.ts'
import { type CommandStreams, exitCodeOf } from './command-streams.ts'
import { LogReplay } from './log-replay.ts'
import { LogRequest } from './log-request.ts'
import { readPolicyFile, routesOf } from './policy-file.ts'

/** How to read a log. */
export interface LogOptions {
  /**
   * Format of the lines: `auto`, `common`, `combined`, `json`, or a format in the syntax of nginx's `log_format`.
   * Default: `auto`, which reads the first four.
   */
  readonly format?: string | undefined
  /** Routes of the application, such as `GET /teams/:team`, in addition to those that the policy file names. */
  readonly routes?: readonly string[] | undefined
  /** Names of fields in the log, by the attributes that policies use: `{ principal: 'user.id' }`. */
  readonly attributes?: Readonly<Record<string, string>> | undefined
}

export interface ReplayOptions extends LogOptions, CommandStreams {
  /** Path of the policy file. */
  readonly policies: string
  /** Whether to print the report as JSON. Default: false. */
  readonly json?: boolean | undefined
  /** Path of an HTML report to write. */
  readonly html?: string | undefined
}

/**
 * Replays logs through the policies of a file and prints a report. `-` is the standard input. Returns 0, or 1 if the
 * policy file is invalid or no line of the logs could be read, or 2 for wrong arguments and unreadable files.
 */
export async function replayCommand(files: readonly string[], options: ReplayOptions): Promise<number> {
  const { stdin, stdout = process.stdout, stderr = process.stderr } = options
  return exitCodeOf(async () => {
    const file = await readPolicyFile(options.policies)
    const routes = new RouteMatcher([...(options.routes ?? []), ...routesOf(file)])
    const replay = new LogReplay(file, new LogRequest(routes, options.attributes))
    const logs: LogFiles = new LogFiles(files, {
      format: options.format,
      stdin,
      progress: (bytes, lines) => progress.update(bytes, lines),
    })
    const progress = readProgress(stderr, logs.totalBytes)
    const summary = await logs.read((entry) => replay.add(entry)).finally(() => progress.stop())
    const report = replayReport(replay, summary)
    if (options.html !== undefined) await writeReport(options.html, replayHtml(report))
    stdout.write(options.json ? `${JSON.stringify(report, null, 2)}\n` : replayText(report, textStyle(stdout)))
    return report.total.requests > 0 ? EXIT.ok : EXIT.problems
  }, stderr)
}

async function writeReport(path: string, page: string): Promise<void> {
  try {
    await writeFile(path, page)
  } catch (error) {
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      `html: expected a file that can be written, received ${messageOf(error)}`,
    )
  }
}
