// Runs the cells that `Cells` sends, each as a new copy of its module.
import { hostCell } from './child.mjs'

// a collection of the garbage of hundreds of cells takes longer than a cell, and no figure of a smoke run counts
globalThis.gc = () => {}

let cells = 0
process.once('disconnect', () => process.exit())
process.on('message', async ({ file, options }) => {
  hostCell(options)
  await import(`${file}?${++cells}`)
})
