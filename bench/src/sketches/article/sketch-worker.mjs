// One of the counting threads: waits until all are ready, counts its part of the stream, and reports its end.
import { parentPort, workerData } from 'node:worker_threads'
import { CountMin } from '@sluice/sketches'
import { drawKeys } from '../sketch-streams.mjs'
import { LockedTable } from './sketch-locked-table.mjs'
import { shape } from './sketch-threads.mjs'

const { way, buffer, gate, hot, state, events } = workerData
const stretch = 2 ** 22

const ways = {
  merged() {
    const own = new CountMin(shape)
    const handOver = () => {
      parentPort.postMessage({ bytes: own.toBytes() })
      own.clear()
    }
    return { add: (key) => own.add(key), handOver }
  },
  atomics() {
    const shared = CountMin.attach(buffer, { seed: shape.seed })
    return { add: (key) => shared.add(key) }
  },
  maps() {
    const map = new Map()
    return { add: (key) => map.set(key, (map.get(key) ?? 0) + 1), finish: () => parentPort.postMessage({ map }) }
  },
  locked() {
    const table = new LockedTable(buffer)
    return { add: (key) => table.add(key) }
  },
  plain() {
    const cells = new Int32Array(buffer)
    return {
      add: () => {
        cells[0]++
        cells[1]++
        cells[2]++
        cells[3]++
      },
    }
  },
}

function drawHot(add, count) {
  for (let n = 0; n < count; n++) add(0)
}

const { add, handOver, finish } = ways[way]()
parentPort.postMessage({ word: 'ready' })
Atomics.wait(gate, 0, 0)
let at = state
for (let left = events; left > 0; left -= stretch) {
  if (hot) drawHot(add, Math.min(stretch, left))
  else at = drawKeys(add, Math.min(stretch, left), at)
  handOver?.()
}
finish?.()
parentPort.postMessage({ word: 'done' })
