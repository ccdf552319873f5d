export { type ShareSketchOptions, shareSketch } from './share-sketch.ts'
export type { SharedSketch } from './shared-sketch.ts'
