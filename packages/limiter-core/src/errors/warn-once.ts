import { withErrorLink } from '../keyed-hash/index.ts'
import { nodeProcess } from '../process/built-in.ts'
import { processWide } from '../process/process-wide.ts'
import type { SluiceCode } from './errors.ts'

const KEY = Symbol.for('sluice.warned')
/**
 * Maximum number of warnings per code that a process prints about limiters. A program that creates a limiter per
 * request would otherwise flood the log.
 */
const MAX_WARNINGS_PER_CODE = 100

interface PrintedWarnings {
  readonly once: Set<string>
  readonly ofLimiters: Map<SluiceCode, number>
}

function warned(): PrintedWarnings {
  return processWide(KEY, () => ({ once: new Set(), ofLimiters: new Map() }))
}

/**
 * Prints a process warning once per process for each combination of `code` and `about`. Use it for problems of the
 * application that any limiter may detect, such as proxy trust or Redis settings; problems of one limiter are reported
 * by its `LimiterWarnings`. Pass a function if the message is expensive to build.
 */
export function warnOnce(code: SluiceCode, message: string | (() => string), about = ''): void {
  const seen = warned().once
  const mark = `${code} ${about}`
  if (seen.has(mark)) return
  seen.add(mark)
  warn(code, typeof message === 'string' ? message : message())
}

/** Prints a warning about one limiter. A process prints at most 100 of them per code. */
export function warnAboutLimiter(code: SluiceCode, message: () => string): void {
  const { ofLimiters } = warned()
  const printed = (ofLimiters.get(code) ?? 0) + 1
  if (printed > MAX_WARNINGS_PER_CODE) return
  ofLimiters.set(code, printed)
  const note = ` (after ${MAX_WARNINGS_PER_CODE} warnings with this code, no more are printed)`
  warn(code, printed < MAX_WARNINGS_PER_CODE ? message() : message() + note)
}

/** Prints a warning on every call. Callers must limit the frequency. */
export function warn(code: SluiceCode, message: string): void {
  const text = withErrorLink(code, message)
  if (nodeProcess?.emitWarning) nodeProcess.emitWarning(text, { type: 'SluiceWarning', code })
  // biome-ignore lint/suspicious/noConsole: other runtimes have no process warnings
  else console.warn(`SluiceWarning: [${code}] ${text}`)
}

/** Forgets which warnings have been printed, so that tests see them again. */
export function resetWarnings(): void {
  const { once, ofLimiters } = warned()
  once.clear()
  ofLimiters.clear()
}
