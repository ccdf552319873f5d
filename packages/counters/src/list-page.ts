import type { ReadManyOptions } from '@sluice/fleet/backend'
import { integerFrom, optionsOf } from '@sluice/limiter-core/backend'
import { checkId, checkPrefix } from './counter-id.ts'

const MAX_LIMIT = 10_000
const DEFAULT_LIMIT = 1_000

/** Page of a list of counters, ordered by the UTF-8 bytes of their ids. */
export interface ListPage {
  readonly after: string | undefined
  readonly limit: number
}

/** Returns the validated arguments of `readMany`. Throws `SLUICE_BAD_COUNTER_ID` and `SLUICE_BAD_OPTION`. */
export function listPage(prefix: string, options: ReadManyOptions): ListPage {
  checkPrefix(prefix)
  const { after, limit = DEFAULT_LIMIT } = optionsOf('readMany', options, ['after', 'limit'])
  if (after !== undefined) checkId(after)
  return { after, limit: integerFrom('readMany: limit', limit, 1, MAX_LIMIT) }
}
