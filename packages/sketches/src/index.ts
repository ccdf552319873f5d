export type { CellBits } from './cells.ts'
export type { Sketch } from './sketch.ts'
export { type SketchCode, SketchError } from './sketch-error.ts'
export { type SeedOption, type SketchKey, SketchSeed } from './sketch-seed.ts'
