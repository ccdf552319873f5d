import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { eventually } from '../eventually.ts'
import { type GuardedCommand, spawnGuarded } from './guarded-process.ts'

/** The process of a server, which ends with this process and can be started again after it was killed. */
export class ServerProcess {
  #child: ChildProcess | undefined
  #output = ''

  /** -1 while it does not run. */
  get pid(): number {
    return this.#child?.pid ?? -1
  }

  /** Everything that it wrote so far. */
  get output(): string {
    return this.#output
  }

  get isRunning(): boolean {
    return this.#child !== undefined
  }

  /** Starts the process unless it runs. Resolves when it answers, and rejects as soon as it has ended. */
  async start(command: GuardedCommand, answers: () => Promise<boolean>): Promise<void> {
    if (this.isRunning) return
    const child = spawnGuarded(command, {
      onOutput: (text) => {
        this.#output += text
      },
      onClose: (closed) => {
        if (this.#child === closed) this.#child = undefined
      },
    })
    this.#child = child
    const ended = (): boolean => this.#child !== child
    const what = `an answer of ${command.binary}`
    await eventually(async () => ended() || (await answers()), { what })
    if (ended()) throw new Error(`${command.binary} has ended: ${this.#output}`)
  }

  /** Sends a signal to the process, if it runs. */
  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal)
  }

  /** Ends the process by a signal, or by `end`. Resolves when it is gone. */
  async end(end: NodeJS.Signals | (() => void) = 'SIGKILL'): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    const closed = once(child, 'close')
    if (typeof end === 'string') child.kill(end)
    else end()
    await closed
  }
}
