import { badOption, optionsOf, parseScope } from '@sluice/limiter-core/backend'
import { checkedParts, type WaterfallInput } from './open-parts.ts'
import type { Waterfall } from './waterfall.ts'

export interface WaterfallOptions {
  /** Scope of the quotas, as in limiters that use them. Default: `default`. */
  readonly scope?: string | undefined
}

/** A backend that can open waterfalls: quotas from `createQuotas`. */
interface WaterfallBackend {
  readonly openWaterfall: (parts: readonly WaterfallInput[], scope: string) => Waterfall
}

/**
 * Creates a waterfall over 1 to 8 parts of one `createQuotas`: one decision that takes from the first part, then from
 * the next ones, e.g. from an included quota, then from prepaid credits, then from overage up to a cap. Parts share
 * their counts with limiters that use the same quotas in the same scope; units on lease to limiters are not free.
 *
 * Throws `SLUICE_BAD_OPTION`, also for parts with different backends, names or units, and `SLUICE_BAD_NAME`.
 */
export function waterfall(parts: readonly WaterfallInput[], options: WaterfallOptions = {}): Waterfall {
  const { scope = 'default' } = optionsOf('waterfall', options, ['scope'])
  const [{ backend }] = checkedParts(parts)
  if (typeof (backend as Partial<WaterfallBackend> | undefined)?.openWaterfall !== 'function') {
    throw badOption('waterfall: parts', backend, 'quotas and credits with a backend from createQuotas()')
  }
  return (backend as unknown as WaterfallBackend).openWaterfall(parts, parseScope(scope))
}
