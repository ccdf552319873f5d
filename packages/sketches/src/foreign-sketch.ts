import type { Sketch } from './sketch.ts'
import { described, SketchError } from './sketch-error.ts'

/**
 * Restores `other` in this copy of the class from its bytes, because its private fields are not accessible: an ESM
 * and a CommonJS copy of this package may coexist in one process. Throws `SLUICE_SKETCH_MISMATCH` if `other` is not a
 * sketch of that class.
 */
export function foreignSketch<S, O>(
  { name, fromBytes }: { readonly name: string; readonly fromBytes: (bytes: Uint8Array, options?: O) => S },
  other: unknown,
  options?: O,
): S {
  try {
    return fromBytes(bytesOf(other) as Uint8Array, options)
  } catch (error) {
    if ((error as SketchError).code !== 'SLUICE_BAD_BYTES') throw error
    throw new SketchError('SLUICE_SKETCH_MISMATCH', `expected a ${name}, received ${described(other)}`)
  }
}

function bytesOf(other: unknown): unknown {
  try {
    return (other as Sketch<unknown>).toBytes()
  } catch {
    // an object without bytes is not a sketch
    return undefined
  }
}
