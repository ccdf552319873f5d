import { withPage } from '@sluice/keyed-hash'
import type { SluiceCode } from './errors.ts'

const KEY = Symbol.for('sluice.warned')

// one set a process, shared by every copy of the package
function warned(): Set<string> {
  const home = globalThis as { [KEY]?: Set<string> }
  home[KEY] ??= new Set()
  return home[KEY]
}

/**
 * Warns on stderr (`process.on('warning')`), once a process for each code and `about`. For what is wrong with the
 * application, whichever limiter finds it: whom it trusts, where a limiter is built, its Redis. What is wrong with one
 * limiter is told by its `LimiterReport`. A message that is dear to build comes as a function.
 */
export function warnOnce(code: SluiceCode, message: string | (() => string), about = ''): void {
  const seen = warned()
  const mark = `${code} ${about}`
  if (seen.has(mark)) return
  seen.add(mark)
  warn(code, typeof message === 'string' ? message : message())
}

/** Warns each time. Whoever calls this sees to it that it is seldom. */
export function warn(code: SluiceCode, message: string): void {
  process.emitWarning(withPage(code, message), { type: 'SluiceWarning', code })
}

/** For tests: whatever comes once a process may come once more. */
export function forgetWarnings(): void {
  warned().clear()
}
