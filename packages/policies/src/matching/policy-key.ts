import { joinedKey } from '@sluice/limiter-core/backend'
import type { AttributeSource } from './attribute-source.ts'

/** Attributes by which a policy counts if its file names none. */
const DEFAULT_KEY = ['address']

/** In front of an address that takes the place of a missing attribute. No header can contain it. */
export const ADDRESS_MARK = '\0address:'

/** The attributes that a policy counts together. */
export class PolicyKey {
  readonly names: readonly string[]

  constructor(key: string | readonly string[] | undefined) {
    this.names = typeof key === 'string' ? [key] : (key ?? DEFAULT_KEY)
  }

  /**
   * Returns the values of the attributes. The address of the client takes the place of a missing attribute, so that
   * visitors without a principal are counted by address, and not all together.
   */
  partsOf(read: AttributeSource): readonly string[] {
    return this.names.map((name) => {
      const value = read(name)
      if (value === undefined || value === '') return `${ADDRESS_MARK}${read('address') ?? ''}`
      const text = String(value)
      return text.charCodeAt(0) === 0 ? `\0${text}` : text
    })
  }
}

/** Returns the key that counts: the only part, or all parts with their lengths. */
export function keyOfParts(parts: readonly string[]): string {
  return parts.length === 1 ? parts[0] : joinedKey(...parts)
}

/** Returns the parts of a key that `keyOfParts` returned for `count` parts. */
export function partsOfKey(key: string, count: number): readonly string[] {
  if (count === 1) return [key]
  const parts: string[] = []
  let at = 0
  while (parts.length < count) {
    const colon = key.indexOf(':', at)
    const length = Number(key.slice(at, colon))
    parts.push(key.slice(colon + 1, colon + 1 + length))
    at = colon + 1 + length
  }
  return parts
}
