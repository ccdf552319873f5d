// One process: one contender under one load, or what it holds, or how it errs. A smoke run does all in one.
import { childOptions, finishChild } from './child.mjs'
import { cpuNs, openLoad } from './sketch-clock.mjs'
import { families } from './sketch-families.mjs'
import { keyText, valuesOf } from './sketch-streams.mjs'

const { cells, smoke, cellMs } = childOptions()
const slices = smoke ? 1 : 6

const tasks = {
  /** CPU ns a call. */
  async speed({ contender, load, method = 'add' }) {
    const opened = await contender.open()
    const calls = openLoad(load, { slow: contender.slow, smoke })
    // what is asked for is there
    if (method !== 'add') calls.pass(opened.add)
    return cpuNs(opened[method], calls, { cellMs, slices })
  },

  /** Bytes that it holds after a stream, and heap bytes that a call leaves behind. */
  async held({ contender, values }) {
    const events = smoke ? 50 : contender.slow ? 500 : 100_000
    // what the JIT keeps comes to some 100 KB: spread over so many it is little
    const copies = smoke || contender.grows ? 2 : 32
    const kept = values ? valuesOf('exponential', events) : undefined
    const made = []
    const makeOne = async () => {
      const opened = await contender.open()
      // who keeps a key pays for it: nobody else does
      for (let n = 0; n < events; n++) opened.add(kept === undefined ? keyText(n % 50_000) : kept[n])
      return opened
    }
    await makeOne()
    await settled()
    const before = heldBytes()
    for (let n = 0; n < copies; n++) made.push(await makeOne())
    await settled()
    const bytes = made[0].bytes?.() ?? (heldBytes() - before) / copies
    return { bytes, garbage: garbageOf(made[0].add, values, contender.slow) }
  },

  errors: ({ family, contender }) => families[family].errors(contender, smoke),
}

/** What nobody holds any more is gone, its buffers too, which are freed in a thread of their own. */
async function settled() {
  for (let turn = 0; turn < 3; turn++) {
    globalThis.gc?.()
    await new Promise((resolve) => setTimeout(resolve, smoke ? 0 : 20))
  }
}

function heldBytes() {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function garbageOf(add, values, slow) {
  const load = openLoad(values ? 'exponential' : 'warm15', { slow, smoke })
  const passes = slow || smoke ? 1 : Math.ceil(200_000 / load.count)
  for (let n = 0; n < 2 * passes; n++) load.pass(add)
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  for (let n = 0; n < passes; n++) load.pass(add)
  return Math.max(0, process.memoryUsage().heapUsed - before) / (passes * load.count)
}

const results = []
for (const cell of cells) {
  const contender = families[cell.family].contenders.find(({ name }) => name === cell.name)
  results.push(await (tasks[cell.task] ?? families[cell.family][cell.task])({ ...cell, contender, smoke }))
}
finishChild(results)
