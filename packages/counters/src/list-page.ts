import type { ReadManyOptions } from '@sluice/limiter-core'
import { badOption, optionsOf } from '@sluice/limiter-core/backend'
import { checkId, checkPrefix } from './counter-id.ts'

const LONGEST_LIST = 10_000
const LIST = 1_000

/** A part of a list of counters. */
export interface ListPage {
  readonly after: string | undefined
  readonly limit: number
}

/** What `readMany` is asked for, checked. Throws `SLUICE_BAD_COUNTER_ID` and `SLUICE_BAD_OPTION`. */
export function listPage(prefix: string, options: ReadManyOptions): ListPage {
  checkPrefix(prefix)
  const { after, limit = LIST } = optionsOf('readMany', options, ['after', 'limit'])
  if (after !== undefined) checkId(after)
  if (Number.isInteger(limit) && limit >= 1 && limit <= LONGEST_LIST) return { after, limit }
  throw badOption('readMany: limit', limit, `a whole number from 1 to ${LONGEST_LIST}`)
}
