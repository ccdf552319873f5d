import { byAll, byHeader, byPrincipal, byRoute } from '@sluice/limiter-core'
import { byIp, type KeySource, kindOf, SluiceError } from '@sluice/limiter-core/http'

const FACTORIES: readonly unknown[] = [byAll, byHeader, byIp, byPrincipal, byRoute]

/**
 * Returns the value of the option `key` as a key source. Throws `SLUICE_BAD_OPTION` if it is not a function, or is a
 * factory that was not called, such as `byIp` instead of `byIp()`.
 */
export function keySourceOf<Req>(key: unknown): KeySource<Req> {
  if (typeof key === 'function' && !FACTORIES.includes(key)) return key as KeySource<Req>
  const received = typeof key === 'function' ? `${key.name} without a call` : kindOf(key)
  throw new SluiceError('SLUICE_BAD_OPTION', `key: expected a function such as byIp(), received ${received}`)
}
