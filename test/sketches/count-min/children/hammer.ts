import { parentPort, workerData } from 'node:worker_threads'
import { CountMin } from '@sluice/sketches'
import { count } from './thread-events.ts'

/** The instructions for a thread. */
export interface Hammering {
  readonly buffer: SharedArrayBuffer
  readonly seed: string
  /** Shared counter of started threads: no thread begins before the counter reaches `threads`. */
  readonly ready: SharedArrayBuffer
  readonly threads: number
  readonly thread: number
}

const { buffer, seed, ready, threads, thread } = workerData as Hammering
const sketch = CountMin.attach(buffer, { seed })
const waiting = new Int32Array(ready)
Atomics.add(waiting, 0, 1)
while (Atomics.load(waiting, 0) < threads);
count(sketch, thread)
parentPort?.postMessage('done')
