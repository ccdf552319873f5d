import { type Backend, badOption, compilePolicy, optionsOf, type Policy } from '@sluice/limiter-core/backend'

export interface CreditsOptions {
  /** Name of the balance: printable ASCII, at most 128 characters. Default: `credits`. */
  readonly name?: string | undefined
  /** Quotas from `createQuotas`. */
  readonly backend: Backend
  /** Name of the counted unit, as in `quota`. Default: `requests`. */
  readonly unit?: string | undefined
}

/** Prepaid units of a key: a balance that only `topUp` fills and that does not renew. A part of `waterfall`. */
export interface Credits {
  readonly kind: 'credits'
  readonly name: string
  readonly backend: Backend
  readonly unit: string | undefined
}

/**
 * Creates a balance of prepaid units. `quotas.topUp(key, units, { policy: name, token })` fills it, and
 * `quotas.balance(key, { policy: name })` returns it while a waterfall with it is open.
 *
 * Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_NAME`.
 */
export function credits(options: CreditsOptions): Credits {
  const { name = 'credits', backend, unit } = optionsOf('credits', options, ['name', 'backend', 'unit'])
  if (typeof (backend as Backend | undefined)?.open !== 'function') {
    throw badOption('credits: backend', backend, 'a backend from createQuotas()')
  }
  const part = { kind: 'credits', name, backend, unit } as const
  // validated here, so that the stack trace points to the mistake
  policyOfCredits(part)
  return part
}

/** Returns the policy of a balance. Its limit and window have no meaning. */
export function policyOfCredits({ name, unit }: Credits): Policy {
  return compilePolicy({
    name,
    limit: 1,
    window: '31d',
    algorithm: 'fixed-window',
    ...(unit !== undefined && { unit }),
  })
}
