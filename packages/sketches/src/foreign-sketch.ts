import type { Sketch } from './sketch.ts'
import { described, SketchError } from './sketch-error.ts'

/**
 * What a class makes of the bytes of `other`, whose private fields are closed to it: an ESM and a CommonJS copy of this
 * package may meet in one process. Throws `SLUICE_SKETCH_MISMATCH` where `other` is no sketch of that class.
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
    // what has no bytes is no sketch
    return undefined
  }
}
