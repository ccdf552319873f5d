import { sluiceCodeOf } from '../error-code.ts'

/** Returns a failure as a metric label: its Sluice code, or `error` for any other error, so that labels are few. */
export function codeOf(error: unknown): string {
  return sluiceCodeOf(error) ?? 'error'
}
