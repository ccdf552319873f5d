import fc from 'fast-check'

const group = fc.oneof(
  { weight: 2, arbitrary: fc.constant(0) },
  fc.constantFrom(1, 0xff, 0xffff, 0x2002, 0x64, 0xff9b),
  fc.integer({ min: 0, max: 0xffff }),
)
/** Eight groups with many zeros and with prefixes that embed IPv4. */
export const groups: fc.Arbitrary<number[]> = fc.oneof(
  fc.array(group, { minLength: 8, maxLength: 8 }),
  fc.array(group, { minLength: 2, maxLength: 2 }).map((tail) => [0, 0, 0, 0, 0, 0xffff, ...tail]),
)

export interface Style {
  readonly seed: readonly number[]
  readonly dotted: boolean
  readonly gap: number
  readonly zone: string
}
export const style: fc.Arbitrary<Style> = fc.record({
  seed: fc.array(fc.nat(255), { minLength: 8, maxLength: 8 }),
  dotted: fc.boolean(),
  gap: fc.nat(8),
  zone: fc.constantFrom('', '', '%eth0', '%1'),
})

/** Any valid spelling: upper or lower case, optional leading zeros, any run of zeros omitted, dotted tail or not. */
export function spelt(address: readonly number[], { seed, dotted, gap, zone }: Style): string {
  const parts = address.map((value, i) => {
    const text = value.toString(16).padStart(1 + (seed[i] % 4), '0')
    return seed[i] & 16 ? text.toUpperCase() : text
  })
  if (dotted) parts.splice(6, 2, dottedOf(address))
  let end = gap
  while (end < (dotted ? 6 : 8) && address[end] === 0 && (end - gap < 1 || seed[end] & 32)) end++
  if (end === gap) return parts.join(':') + zone
  return `${parts.slice(0, gap).join(':')}::${parts.slice(end).join(':')}${zone}`
}

function dottedOf(address: readonly number[]): string {
  return [address[6] >> 8, address[6] & 255, address[7] >> 8, address[7] & 255].join('.')
}

/** Returns the simplest spelling. */
export function plain(address: readonly number[]): string {
  return address.map((value) => value.toString(16)).join(':')
}
