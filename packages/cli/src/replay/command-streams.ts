import type { Readable } from 'node:stream'
import { messageOf, type SluiceCode, type SluiceError } from '@sluice/limiter-core/backend'
import type { TextOutput } from '../report/text-style.ts'
import { EXIT } from '../terminal/exit-code.ts'

/** Codes of wrong arguments and of files that cannot be read. */
const USAGE: readonly SluiceCode[] = ['SLUICE_BAD_OPTION', 'SLUICE_POLICIES_UNREADABLE']

/** Streams of a command. Default: those of the process. */
export interface CommandStreams {
  readonly stdin?: Readable | undefined
  readonly stdout?: TextOutput | undefined
  readonly stderr?: TextOutput | undefined
}

/**
 * Runs a command. If it throws a `SluiceError`, prints the error and returns the exit code of wrong arguments and
 * unreadable files, or of problems in their contents. Other errors are rethrown.
 */
export async function exitCodeOf(run: () => Promise<number>, stderr: TextOutput): Promise<number> {
  try {
    return await run()
  } catch (error) {
    if (!isCoded(error)) throw error
    stderr.write(`${messageOf(error)}\n`)
    return USAGE.includes((error as SluiceError).code) ? EXIT.usage : EXIT.problems
  }
}

function isCoded(error: unknown): boolean {
  return String((error as { readonly code?: unknown } | undefined)?.code).startsWith('SLUICE_')
}
