import { fork } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Forks a file, given as a URL; the child reads `options` with `childOptions`. */
export function startChild(file, options, execArgv = []) {
  return fork(fileURLToPath(file), [JSON.stringify(options)], {
    execArgv,
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
}

/** Runs a child to its end and returns the value it passed to `finishChild`. */
export function runChild(file, options, execArgv) {
  const child = startChild(file, options, execArgv)
  return new Promise((resolve, reject) => {
    let result
    child.once('message', (message) => {
      result = message
    })
    child.once('error', reject)
    child.once('exit', async (code, signal) => {
      // its last message may arrive after its end
      if (code === 0 && result === undefined && child.connected) await once(child, 'disconnect')
      if (code === 0 && result !== undefined) resolve(result)
      else reject(new Error(`${basename(file.pathname)} ${JSON.stringify(options)} ended with ${signal ?? code}`))
    })
  })
}

let hosted

/** Sets the options of the cell that this process runs next, if it runs several. */
export function hostCell(options) {
  hosted = options
}

export function childOptions() {
  if (hosted !== undefined) return hosted
  // exit if the parent fails
  process.once('disconnect', () => process.exit(1))
  return JSON.parse(process.argv[2])
}

/** Exits explicitly once the result is sent, because peers leave timers running; unless more cells follow. */
export function finishChild(result) {
  process.send(result, () => {
    if (hosted === undefined) process.exit(0)
  })
}
