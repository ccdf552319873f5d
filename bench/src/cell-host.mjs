// Runs the cells that `Cells` sends, each as a new copy of its module.
import { hostCell } from './child.mjs'

let cells = 0
process.once('disconnect', () => process.exit())
process.on('message', async ({ file, options }) => {
  hostCell(options)
  await import(`${file}?${++cells}`)
})
