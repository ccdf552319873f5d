import { runChild, startChild } from './child.mjs'

const host = new URL('./cell-host.mjs', import.meta.url)

/** Runs cells one after the other: each in its own process, or all in one process if only their completion matters. */
export class Cells {
  #execArgv
  #together
  #child

  constructor(execArgv, { together }) {
    this.#execArgv = execArgv
    this.#together = together
  }

  /** Returns the value that the cell passed to `finishChild`. */
  run(file, options) {
    if (!this.#together) return runChild(file, options, this.#execArgv)
    this.#child ??= startChild(host, {}, this.#execArgv)
    const child = this.#child
    return new Promise((resolve, reject) => {
      const ended = (code, signal) =>
        reject(new Error(`${file} ${JSON.stringify(options)} ended with ${signal ?? code}`))
      child.once('exit', ended)
      child.once('message', (result) => {
        child.off('exit', ended)
        resolve(result)
      })
      child.send({ file: file.href, options })
    })
  }

  close() {
    this.#child?.disconnect()
  }
}
