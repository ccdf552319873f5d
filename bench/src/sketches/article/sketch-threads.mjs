import { Worker } from 'node:worker_threads'
import { CountMin } from '@sluice/sketches'
import { benchSeed } from '../sketch-streams.mjs'
import { LockedTable } from './sketch-locked-table.mjs'

const seed = benchSeed
export const shape = { width: 65_536, depth: 4, seed }

/** Setup of workers, handling of their messages, and the source of the result, by counting method. */
const ways = {
  merged() {
    const whole = new CountMin(shape)
    const heard = ({ bytes }) => bytes && whole.merge(CountMin.fromBytes(bytes, { seed }))
    const held = (threads) => (threads + 1) * whole.toBytes().length
    return { given: {}, heard, estimate: (key) => whole.estimate(key), held }
  },
  atomics() {
    const whole = new CountMin({ ...shape, shared: true })
    const held = () => whole.buffer.byteLength
    return { given: { buffer: whole.buffer }, estimate: (key) => whole.estimate(key), held }
  },
  maps() {
    const whole = new Map()
    const heard = ({ map }) => {
      if (map !== undefined) for (const [key, n] of map) whole.set(key, (whole.get(key) ?? 0) + n)
    }
    const sized = () => process.memoryUsage()
    const before = sized().heapUsed
    const held = (threads) => {
      globalThis.gc?.()
      return (threads + 1) * (sized().heapUsed - before)
    }
    return { given: {}, heard, estimate: (key) => whole.get(key) ?? 0, held }
  },
  locked() {
    const table = LockedTable.create(2 ** 21)
    return { given: { buffer: table.buffer }, estimate: (key) => table.get(key), held: () => table.buffer.byteLength }
  },
  plain() {
    const buffer = new SharedArrayBuffer(16)
    const cells = new Int32Array(buffer)
    return { given: { buffer }, estimate: () => Math.min(...cells), held: () => 16 }
  },
}

/** Counts `parts` of a stream, each in a worker, with one of the methods. `hot`: all events use key 0. */
export async function countTogether(way, parts, hot = false) {
  const { given, heard, estimate, held } = ways[way]()
  const gate = new Int32Array(new SharedArrayBuffer(4))
  const workers = parts.map((part) => startWorker({ ...given, ...part, way, hot, gate }, heard))
  await Promise.all(workers.map(({ ready }) => ready))
  const [before, start] = [process.cpuUsage(), performance.now()]
  Atomics.store(gate, 0, 1)
  Atomics.notify(gate, 0)
  await Promise.all(workers.map(({ done }) => done))
  const wallNs = (performance.now() - start) * 1e6
  const { user, system } = process.cpuUsage(before)
  return { estimate, wallNs, cpuNs: 1_000 * (user + system), held: held(parts.length) }
}

function startWorker(workerData, heard) {
  const worker = new Worker(new URL('./sketch-worker.mjs', import.meta.url), { workerData })
  const failed = new Promise((_, reject) => worker.once('error', reject))
  const told = (word) =>
    new Promise((resolve) => {
      worker.on('message', (message) => message.word === word && resolve())
    })
  // counts are merged before the end of a worker is reported
  worker.on('message', (message) => heard?.(message))
  return { ready: Promise.race([told('ready'), failed]), done: Promise.race([told('done'), failed]) }
}
