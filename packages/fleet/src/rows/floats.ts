/** Whether a stored value is an array of doubles, possibly of another realm. */
export function isFloats(value: unknown): value is Float64Array {
  return (value as Partial<Float64Array> | undefined)?.[Symbol.toStringTag] === 'Float64Array'
}
