import { HyperLogLog, type SketchSeed } from '@sluice/sketches'

/** The character of rank 0; those of all ranks are printable, and order as ranks do. */
const FIRST = 48

/** The registers of a sketch as text: a character for each. */
export function registersOf(sketch: HyperLogLog): string {
  const registers = sketch.toBytes().subarray(-(2 ** sketch.precision))
  return Buffer.from(registers.map((rank) => rank + FIRST)).toString('latin1')
}

/** The sketch of these registers. Throws where they are no text that `registersOf` makes of a sketch of this precision. */
export function sketchOfRegisters(registers: unknown, precision: number, seed: SketchSeed): HyperLogLog {
  if (typeof registers !== 'string' || registers.length !== 2 ** precision) {
    throw new Error(`expected ${2 ** precision} characters, received no registers`)
  }
  const bytes = new HyperLogLog({ precision, seed }).toBytes()
  // a character below the first one becomes a rank that is refused
  bytes.set(
    Buffer.from(registers, 'latin1').map((character) => character - FIRST),
    bytes.length - registers.length,
  )
  return HyperLogLog.fromBytes(bytes, { seed })
}
