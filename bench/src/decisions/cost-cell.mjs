// One contender in a separate process: figures of its decisions other than their mean time.
import { childOptions, finishChild } from '../run/child.mjs'
import { excessPercent } from './excess.mjs'
import { garbageBytes } from './garbage.mjs'
import { p999Us } from './tail-latency.mjs'

const measures = { p999Us, garbageBytes, excessPercent }
const { name, figures, smoke } = childOptions()
const measured = {}
for (const figure of figures) measured[figure] = await measures[figure](name, smoke)
finishChild(measured)
