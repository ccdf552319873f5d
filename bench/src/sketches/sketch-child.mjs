// One process measures the speed of one contender under one load, its memory, or its errors. A smoke run does all.
import { childOptions, finishChild } from '../run/child.mjs'
import { cpuNs, openLoad } from './sketch-clock.mjs'
import { families } from './sketch-families.mjs'
import { keyText, valuesOf } from './sketch-streams.mjs'

const { cells, smoke, cellMs } = childOptions()
const slices = smoke ? 1 : 6

const tasks = {
  /** CPU ns per call. */
  async speed({ contender, load, method = 'add' }) {
    const opened = await contender.open()
    const calls = openLoad(load, { slow: contender.slow, smoke })
    // the requested keys exist
    if (method !== 'add') calls.pass(opened.add)
    return cpuNs(opened[method], calls, { cellMs, slices })
  },

  /** Bytes used after a stream, and garbage in heap bytes per call. */
  async held({ contender, values }) {
    const events = smoke ? 50 : contender.slow ? 500 : 100_000
    // the JIT keeps some 100 KB, which is little per call over this many calls
    const copies = smoke || contender.grows ? 2 : 32
    const kept = values ? valuesOf('exponential', events) : undefined
    const made = []
    const makeOne = async () => {
      const opened = await contender.open()
      // keys are referenced only by the contender, so that they count if it keeps them
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

/** Collects garbage and waits until unreferenced buffers, which another thread frees, are released. */
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
