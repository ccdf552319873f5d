import { monitorEventLoopDelay } from 'node:perf_hooks'
import { finishChild } from '../../run/child.mjs'

const sampleMs = 100

/**
 * The side of a server process that answers to the run: sends its port, records `limit` and `held` from the start of
 * the run to its end, and then sends what it recorded.
 */
export class ServerHost {
  #startAt = Number.POSITIVE_INFINITY
  #limit = 0

  /** Milliseconds since the start of the run. */
  elapsedMs = () => Math.max(0, performance.timeOrigin + performance.now() - this.#startAt)

  /** Receives the present limit. */
  watch = (limit) => {
    this.#limit = limit
  }

  run(port, held) {
    const samples = { atMs: [], limit: [], held: [] }
    const lag = monitorEventLoopDelay({ resolution: 5 })
    let timer
    let cpu
    process.on('message', ({ startAt, isOver }) => {
      if (isOver) {
        clearInterval(timer)
        const { user, system } = process.cpuUsage(cpu)
        const cpuPercent = (user + system) / 10 / this.elapsedMs()
        finishChild({ samples, cpuPercent, lagMs: lag.percentile(99) / 1e6 })
        return
      }
      this.#startAt = startAt
      cpu = process.cpuUsage()
      lag.enable()
      timer = setInterval(() => {
        samples.atMs.push(Math.round(this.elapsedMs()))
        samples.limit.push(this.#limit)
        samples.held.push(held())
      }, sampleMs)
    })
    process.send({ port })
  }
}
