import { withPage } from '@sluice/keyed-hash'
import { processWide } from '../process/process-wide.ts'
import type { SluiceCode } from './errors.ts'

const KEY = Symbol.for('sluice.warned')
/**
 * Maximum number of warnings per code about limiters in a process. A program that creates a limiter per request would
 * otherwise flood the log.
 */
const MOST_OF_A_CODE = 100

interface Warned {
  readonly once: Set<string>
  readonly ofLimiters: Map<SluiceCode, number>
}

function warned(): Warned {
  return processWide(KEY, () => ({ once: new Set(), ofLimiters: new Map() }))
}

/**
 * Warns (`process.on('warning')`), once per process for each code and `about`. For problems of the application,
 * whichever limiter finds them: proxy trust, limiters created in handlers, Redis settings. Problems of one limiter
 * are reported by its `LimiterReport`. Pass a function if the message is expensive to build.
 */
export function warnOnce(code: SluiceCode, message: string | (() => string), about = ''): void {
  const seen = warned().once
  const mark = `${code} ${about}`
  if (seen.has(mark)) return
  seen.add(mark)
  warn(code, typeof message === 'string' ? message : message())
}

/** Warns about one limiter; of each code the first 100 in a process. */
export function warnOfLimiter(code: SluiceCode, message: () => string): void {
  const { ofLimiters } = warned()
  const given = (ofLimiters.get(code) ?? 0) + 1
  if (given > MOST_OF_A_CODE) return
  ofLimiters.set(code, given)
  warn(code, given < MOST_OF_A_CODE ? message() : `${message()} (the last of ${MOST_OF_A_CODE} that are shown)`)
}

/** Warns every time. Callers must limit the frequency. */
export function warn(code: SluiceCode, message: string): void {
  process.emitWarning(withPage(code, message), { type: 'SluiceWarning', code })
}

/** For tests: allows every warning once more. */
export function forgetWarnings(): void {
  const { once, ofLimiters } = warned()
  once.clear()
  ofLimiters.clear()
}
