// One child process. Node's own modules only, as tools/prepare.mjs uses it before anything is installed.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP']

/**
 * Runs a command to its end. Never rejects: a command that cannot be started or outlives `limitMs` has code 1 and says
 * so in `output`. With `show` the child writes to our terminal and `output` holds our own words only.
 * A signal goes on to the child, and when the child has ended we end as the signal asks: nothing is left running.
 */
export function runChild(command, args, { cwd, env, show = false, limitMs } = {}) {
  return new Promise((resolve) => {
    const pipe = show ? 'inherit' : 'pipe'
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', pipe, pipe] })
    let output = ''
    const say = (text) => {
      output += text
      if (show) process.stdout.write(text)
    }
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => {
        output += text
      })
    }

    let stopped
    const stop = (signal) => {
      stopped = signal
      child.kill(signal)
    }
    for (const signal of forwarded) process.on(signal, stop)
    const limit =
      limitMs &&
      setTimeout(() => {
        say(`\nstopped: not done after ${limitMs / 60_000} minutes\n`)
        child.kill('SIGKILL')
      }, limitMs)

    child.on('error', (error) => {
      say(`${error.message}\n`)
      finish(1)
    })
    child.on('close', (code) => finish(code ?? 1))
    const finish = (code) => {
      clearTimeout(limit)
      for (const signal of forwarded) process.off(signal, stop)
      if (stopped) process.exit(128 + constants.signals[stopped])
      resolve({ code, output })
    }
  })
}
