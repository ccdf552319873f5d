import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { root } from '../../repository.ts'
import { guard } from './guardian.ts'

const RUNNER = join(import.meta.dirname, 'child-runner.cjs')

type AnyFunction = (...args: never[]) => unknown
/** The functions of a program, by name. */
type FunctionsOf<Program> = {
  [Name in keyof Program as Program[Name] extends AnyFunction ? Name : never]: Program[Name]
}
type ArgumentsOf<F> = F extends (...args: infer A) => unknown ? A : never
type AnswerOf<F> = F extends (...args: never[]) => infer R ? Awaited<R> : never

export interface ChildNodeOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Arguments for Node itself, such as `['--expose-gc']`. */
  readonly nodeArgs?: readonly string[]
  /** Path of the executable of Node. Default: that of this process. */
  readonly execPath?: string
}

interface Reply {
  readonly id: number
  readonly value?: unknown
  readonly error?: string
}

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

/**
 * Runs a TypeScript program below `test/` in its own Node process, on the source of the packages. It ends with this
 * process, however this process ends. `startNode<typeof import('./program.ts')>('faults/program.ts')`: the exported
 * functions of the program can be called from here.
 */
export function startNode<Program>(program: string, options: ChildNodeOptions = {}): ChildNode<Program> {
  return new ChildNode<Program>(join(root, 'test', program), options)
}

/** Created by `startNode`. */
export class ChildNode<Program> {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, Waiting>()
  readonly #closed: Promise<unknown>
  #lastId = 0
  #output = ''

  constructor(path: string, { env = {}, nodeArgs = [], execPath = process.execPath }: ChildNodeOptions) {
    this.#child = fork(RUNNER, [path], {
      cwd: root,
      execPath,
      execArgv: ['--conditions=@sluice/source', ...nodeArgs],
      env: { ...process.env, NODE_OPTIONS: '', ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      serialization: 'advanced',
    })
    const unguard = guard(this.pid, '')
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text
      })
    }
    this.#child.on('message', (reply: Reply) => this.#settle(reply))
    this.#closed = once(this.#child, 'close')
    void this.#closed.then(() => {
      unguard()
      this.#endWaiting()
    })
  }

  get pid(): number {
    return this.#child.pid as number
  }

  /** Everything written to standard output and standard error so far. */
  get output(): string {
    return this.#output
  }

  /** Exit code: null if a signal ended the process, undefined while it runs. */
  get exitCode(): number | null | undefined {
    return this.#child.signalCode === null ? (this.#child.exitCode ?? undefined) : null
  }

  /**
   * Calls a function of the program and returns its result. Rejects with what it threw, or if the process ends first.
   */
  call<Name extends keyof FunctionsOf<Program> & string>(
    name: Name,
    ...args: ArgumentsOf<Program[Name]>
  ): Promise<AnswerOf<Program[Name]>> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject })
      this.#child.send({ id, name, args }, (error) => {
        if (error) this.#settle({ id, error: this.#ended() })
      })
    })
  }

  pause(): void {
    this.#child.kill('SIGSTOP')
  }

  resume(): void {
    this.#child.kill('SIGCONT')
  }

  /** Kills the process, and resolves when it is gone. */
  async stop(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#closed
  }

  /** Waits until the process has exited on its own. */
  async end(): Promise<void> {
    await this.#closed
  }

  #settle({ id, value, error }: Reply): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (error === undefined) waiting?.resolve(value)
    else waiting?.reject(new Error(error))
  }

  #endWaiting(): void {
    for (const id of [...this.#waiting.keys()]) this.#settle({ id, error: this.#ended() })
  }

  #ended(): string {
    return `the child process has ended: ${this.#output}`
  }
}
