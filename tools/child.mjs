// One child process. Uses only Node's own modules, because tools/prepare.mjs runs it before anything is installed.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'

// a child that leads its own process group can be stopped together with its children; Windows has no process groups
const hasGroups = process.platform !== 'win32'

/**
 * Runs a command to its end. Never rejects: a command that cannot be started or outlives `limitMs` has a code other
 * than 0 and an explanation in `output`. With `show` the child writes to our terminal and `output` has only our messages.
 * A signal is forwarded to the child and its descendants, and when they have ended this process ends with it.
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

/** Callback for the end of the child; after a signal, it also ends this process. */
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
    // the group has already ended
  }
}
