import { systemClock } from '@sluice/limiter-core/backend'
import { WorkerModel } from '@sluice/testkit'
import { valueAt } from '../load/steps.mjs'

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

/** A fixed number of workers with a queue; work takes the time of `serviceMs`, steps over the time of the run. */
export function workerService({ workers, serviceMs }, elapsedMs) {
  const model = new WorkerModel(workers, systemClock)
  return new Service((done) => model.serve(valueAt(serviceMs, elapsedMs()), done))
}

/** Occupies the event loop for `cpuMs`, after the turn in which the request has arrived, as after reading a body. */
export function cpuService({ cpuMs }) {
  return new Service((done) =>
    setImmediate(() => {
      const until = performance.now() + cpuMs
      while (performance.now() < until);
      done()
    }),
  )
}
