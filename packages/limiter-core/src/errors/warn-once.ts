import { withPage } from '@sluice/keyed-hash'
import { processWide } from '../process/process-wide.ts'
import type { SluiceCode } from './errors.ts'

const KEY = Symbol.for('sluice.warned')
/** Warnings about limiters that a process shows of one code: who builds a limiter a request would fill the log. */
const MOST_OF_A_CODE = 100

interface Warned {
  readonly once: Set<string>
  readonly ofLimiters: Map<SluiceCode, number>
}

function warned(): Warned {
  return processWide(KEY, () => ({ once: new Set(), ofLimiters: new Map() }))
}

/**
 * Warns on stderr (`process.on('warning')`), once a process for each code and `about`. For what is wrong with the
 * application, whichever limiter finds it: whom it trusts, where a limiter is built, its Redis. What is wrong with one
 * limiter is told by its `LimiterReport`. A message that is dear to build comes as a function.
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

/** Warns each time. Whoever calls this sees to it that it is seldom. */
export function warn(code: SluiceCode, message: string): void {
  process.emitWarning(withPage(code, message), { type: 'SluiceWarning', code })
}

/** For tests: every warning may come once more. */
export function forgetWarnings(): void {
  const { once, ofLimiters } = warned()
  once.clear()
  ofLimiters.clear()
}
