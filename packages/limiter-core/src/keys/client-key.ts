import { type AddressOptions, type AddressRules, addressKeyOfPeer, compileAddressOptions } from './address-key.ts'
import { NO_ADDRESS } from './key-source.ts'

const DEFAULT_RULES = compileAddressOptions()
const compiled = new WeakMap<AddressOptions, AddressRules>()

/**
 * The key by which `byIp(options)` counts a client at `address`, for connections and messages that no limiter of requests
 * sees: an IPv6 address as its prefix (default: /56), an IPv4 one as it is, without a port. `no-address` for what is none.
 * Throws `SLUICE_BAD_OPTION`.
 */
export function clientKey(address: string | undefined, options?: AddressOptions): string {
  if (address === undefined) return NO_ADDRESS
  return addressKeyOfPeer(address, options === undefined ? DEFAULT_RULES : rulesOf(options)) ?? NO_ADDRESS
}

function rulesOf(options: AddressOptions): AddressRules {
  const known = compiled.get(options)
  if (known) return known
  const rules = compileAddressOptions(options)
  compiled.set(options, rules)
  return rules
}
