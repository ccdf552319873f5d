import { sluiceCodeOf } from '../error-code.ts'

/** A result as a label: codes of ours are few; what else failed is `error`. */
export function codeOf(error: unknown): string {
  return sluiceCodeOf(error) ?? 'error'
}
