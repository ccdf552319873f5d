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

  /** Milliseconds since the start of the run, negative before it. */
  elapsedMs = () => performance.timeOrigin + performance.now() - this.#startAt

  /** Receives the present limit. */
  watch = (limit) => {
    this.#limit = limit
  }

  /**
   * `held` returns the work in progress. `onStart` is called when the start is known. `finish` returns what the process
   * measured itself, and `cpuMs` of its children.
   */
  run(port, { held, onStart = () => {}, finish = () => ({ cpuMs: 0 }) }) {
    const samples = { atMs: [], limit: [], held: [] }
    const lag = monitorEventLoopDelay({ resolution: 5 })
    let timer
    let cpu
    process.on('message', async ({ startAt, isOver }) => {
      if (isOver) {
        clearInterval(timer)
        const { user, system } = process.cpuUsage(cpu)
        const durationMs = this.elapsedMs()
        const { cpuMs, ...measured } = await finish()
        const cpuPercent = (100 * ((user + system) / 1_000 + cpuMs)) / durationMs
        finishChild({ ...measured, samples, cpuPercent, lagMs: lag.percentile(99) / 1e6 })
        return
      }
      this.#startAt = startAt
      cpu = process.cpuUsage()
      lag.enable()
      onStart()
      timer = setInterval(() => {
        samples.atMs.push(Math.round(this.elapsedMs()))
        samples.limit.push(this.#limit)
        samples.held.push(held())
      }, sampleMs)
    })
    process.send({ port })
  }
}
