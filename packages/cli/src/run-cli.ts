import type { Clock } from '@sluice/limiter-core'
import { CommanderError } from 'commander'
import { createProgram } from './program.ts'
import { CommandFailure, EXIT } from './terminal/exit-code.ts'
import { safeText } from './terminal/safe-text.ts'
import type { Output, Terminal } from './terminal/terminal.ts'

export interface CliOptions {
  /** Receives results. Default: `process.stdout`. */
  readonly stdout?: Output | undefined
  /** Receives errors and notices. Default: `process.stderr`. */
  readonly stderr?: Output | undefined
  /** Environment variables. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** Ends `watch`, which otherwise runs until SIGINT or SIGTERM. */
  readonly signal?: AbortSignal | undefined
  /** Clock of retries and timeouts. Default: the system clock. */
  readonly clock?: Clock | undefined
}

/**
 * Runs `sluice` with these arguments, and returns its exit code: 0 without problems, 1 if problems were found, 2 for wrong
 * arguments or an unreadable file, 3 if the live page does not respond or refuses the request. Rejects only if the
 * program has a defect.
 */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<number> {
  const { stdout = process.stdout, stderr = process.stderr, env = process.env, signal, clock } = options
  const terminal: Terminal = { stdout, stderr, env, signal, clock }
  let exitCode: number = EXIT.ok
  const program = createProgram(terminal, (code) => {
    exitCode = code
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return exitCode
  } catch (error) {
    // its message has been written
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    if (!(error instanceof CommandFailure)) throw error
    stderr.write(`error: ${error.message.split('\n').map(safeText).join('\n')}\n`)
    return error.exitCode
  }
}
