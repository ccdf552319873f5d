import { meantBy } from '@sluice/limiter-core/backend'
import { closest, distance } from 'fastest-levenshtein'

/** Share of the characters of a name that may differ. */
const MAX_SHARE = 0.4

/** Returns `, did you mean 'x'?` with the most similar of the valid names, or '' if none is similar. */
export function suggestion(name: string, valid: readonly string[]): string {
  if (valid.length === 0) return ''
  const meant = meantBy(name, valid)
  if (meant !== undefined) return `, did you mean '${meant}'?`
  const best = closest(name, valid as string[])
  const isSimilar = distance(name, best) <= Math.max(1, MAX_SHARE * Math.max(name.length, best.length))
  return isSimilar ? `, did you mean '${best}'?` : ''
}
