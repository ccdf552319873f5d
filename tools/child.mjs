// One child process. Node's own modules only, as tools/prepare.mjs uses it before anything is installed.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'

// a child that leads a group of its own can be stopped together with its children; Windows has no such thing
const hasGroups = process.platform !== 'win32'

/**
 * Runs a command to its end. Never rejects: a command that cannot be started or outlives `limitMs` has a code other
 * than 0 and says so in `output`. With `show` the child writes to our terminal and `output` holds our own words only.
 * A signal goes on to the child and to all that it started, and when they have ended we end as the signal asks.
 */
export async function runChild(command, args, { cwd, env, show = false, limitMs } = {}) {
  const pipe = show ? 'inherit' : 'pipe'
  const stdio = ['ignore', pipe, pipe]
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio, detached: hasGroups })
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
  const letGo = passSignalsOn(child)
  const limit =
    limitMs &&
    setTimeout(() => {
      say(`\nstopped: not done after ${limitMs / 60_000} minutes\n`)
      killAll(child, 'SIGKILL')
    }, limitMs)
  const code = await endOf(child, say)
  clearTimeout(limit)
  letGo()
  return { code, output }
}

function endOf(child, say) {
  return new Promise((resolve) => {
    child.on('close', (code) => resolve(code ?? 1))
    child.on('error', (error) => {
      say(`${error.message}\n`)
      resolve(1)
    })
  })
}

/** To be called back when the child has ended: where a signal came, that is the end of us too. */
function passSignalsOn(child) {
  let received
  const passOn = (signal) => {
    received = signal
    killAll(child, signal)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, passOn)
  return () => {
    for (const signal of signals) process.off(signal, passOn)
    if (received) process.exit(128 + constants.signals[received])
  }
}

function killAll(child, signal) {
  if (!hasGroups || child.pid === undefined) return child.kill(signal)
  try {
    process.kill(-child.pid, signal)
  } catch {
    // the group has ended by itself meanwhile
  }
}
