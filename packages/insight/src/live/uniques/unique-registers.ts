import { HyperLogLog, type SketchSeed } from '@sluice/sketches'

/** Character code of rank 0. The characters of all ranks are printable and sort in rank order. */
const FIRST = 48

/** Encodes the registers of a sketch as a string with one character per register. */
export function registersOf(sketch: HyperLogLog): string {
  const registers = sketch.toBytes().subarray(-(2 ** sketch.precision))
  return Buffer.from(registers.map((rank) => rank + FIRST)).toString('latin1')
}

/** Decodes a string made by `registersOf`. Throws if it is not valid for this precision. */
export function sketchOfRegisters(registers: unknown, precision: number, seed: SketchSeed): HyperLogLog {
  if (typeof registers !== 'string' || registers.length !== 2 ** precision) {
    throw new Error(`expected a string of ${2 ** precision} characters`)
  }
  const bytes = new HyperLogLog({ precision, seed }).toBytes()
  // a character below FIRST wraps around to an invalid rank, which fromBytes rejects
  bytes.set(
    Buffer.from(registers, 'latin1').map((character) => character - FIRST),
    bytes.length - registers.length,
  )
  return HyperLogLog.fromBytes(bytes, { seed })
}
