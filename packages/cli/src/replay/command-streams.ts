import type { Readable } from 'node:stream'
import { messageOf } from '@sluice/limiter-core/backend'
import type { TextOutput } from '../report/text-style.ts'

/** Streams of a command. Default: those of the process. */
export interface CommandStreams {
  readonly stdin?: Readable | undefined
  readonly stdout?: TextOutput | undefined
  readonly stderr?: TextOutput | undefined
}

/** Runs a command. Prints its error and returns 1 if it throws a `SluiceError`; other errors are rethrown. */
export async function exitCodeOf(run: () => Promise<number>, stderr: TextOutput): Promise<number> {
  try {
    return await run()
  } catch (error) {
    if (!isCoded(error)) throw error
    stderr.write(`${messageOf(error)}\n`)
    return 1
  }
}

function isCoded(error: unknown): boolean {
  return String((error as { readonly code?: unknown } | undefined)?.code).startsWith('SLUICE_')
}
