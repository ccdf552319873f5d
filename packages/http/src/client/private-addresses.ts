import { AddressSet, readAddress } from './address-set.ts'
import { PRIVATE_RANGES } from './proxy-presets.ts'

let addresses: AddressSet | undefined

/** Whether no packet from the internet can have this address. */
export function isPrivate(text: string): boolean {
  const address = readAddress(text)
  addresses ??= new AddressSet(PRIVATE_RANGES)
  return address !== undefined && addresses.has(address)
}
