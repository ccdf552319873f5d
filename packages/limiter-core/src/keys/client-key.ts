import { type AddressOptions, addressKeyOfPeer, addressRules } from './address-key.ts'
import { NO_ADDRESS } from './key-source.ts'

/**
 * Returns the key that `byIp(options)` uses for a client at `address`. Use it to limit connections or messages that do
 * not belong to a request. IPv4 addresses are returned without a port, IPv6 addresses as their prefix (default: /56).
 * Returns `no-address` if `address` is undefined or not an address. Throws `SLUICE_BAD_OPTION` for invalid options.
 */
export function clientKey(address: string | undefined, options?: AddressOptions): string {
  if (address === undefined) return NO_ADDRESS
  return addressKeyOfPeer(address, addressRules(options)) ?? NO_ADDRESS
}
