import { systemClock } from '@sluice/limiter-core/backend'
import { WorkerModel } from '@sluice/testkit'
import { seededRandom } from '../../run/random.mjs'
import { valueAt } from '../load/steps.mjs'

const seed = 1

/** Work behind a limiter. `serve` calls `done` when the work has been done; `held` is the work in progress or waiting. */
class Service {
  #work
  held = 0

  constructor(work) {
    this.#work = work
  }

  serve(done) {
    this.held++
    this.#work(() => {
      this.held--
      done()
    })
  }
}

/** `elapsedMs` returns the time since the start of the run. */
export function serviceOf(service, elapsedMs) {
  if (service.cpuMs !== undefined) return new Service(cpuWork(service))
  const atMs = () => Math.max(0, elapsedMs())
  const workers = new WorkerModel(service.workers, systemClock)
  const workMs = service.missMs === undefined ? () => valueAt(service.serviceMs, atMs()) : undefined
  return new Service(workMs ? (done) => workers.serve(workMs(), done) : cachedWork(service, workers, atMs))
}

/** Each key needs `missMs` until its work has been done once after `emptiedAtMs`. A request has a random key. */
function cachedWork({ serviceMs, missMs, keys, emptiedAtMs }, workers, elapsedMs) {
  const random = seededRandom(seed)
  const known = new Set()
  return (done) => {
    const key = Math.floor(random() * keys)
    const isEmptied = elapsedMs() >= emptiedAtMs
    const isHit = !isEmptied || known.has(key)
    workers.serve(isHit ? serviceMs[0][1] : missMs, () => {
      if (isEmptied) known.add(key)
      done()
    })
  }
}

/** Occupies the event loop for `cpuMs`, after the turn in which the request has arrived, as after reading a body. */
function cpuWork({ cpuMs }) {
  return (done) =>
    setImmediate(() => {
      const until = performance.now() + cpuMs
      while (performance.now() < until);
      done()
    })
}

/** Stops the process for `pauseMs` every `everyMs`, if the service has pauses, without using CPU. */
export function pauseEvery({ pauseMs, everyMs }) {
  if (pauseMs === undefined) return
  const nothing = new Int32Array(new SharedArrayBuffer(4))
  setInterval(() => Atomics.wait(nothing, 0, 0, pauseMs), everyMs).unref()
}
