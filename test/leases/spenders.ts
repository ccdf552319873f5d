import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../repository.ts'
import type { SpenderTask } from './children/spender.ts'
import { Spends } from './spends.ts'

const HOOK = join(root, 'test/services/processes/typescript-hook.cjs')
const PROGRAM = join(root, 'test/leases/children/spender.ts')

/** Real processes that consume one key. */
export class Spenders {
  readonly #task: Omit<SpenderTask, 'file'>
  readonly #folder = mkdtempSync(join(tmpdir(), 'sluice-spenders-'))
  readonly #files: string[] = []
  readonly #running = new Set<ChildProcess>()

  constructor(task: Omit<SpenderTask, 'file'>) {
    this.#task = task
  }

  /** Starts a process and waits until it is ready. */
  async start(): Promise<ChildProcess> {
    const file = join(this.#folder, String(this.#files.length))
    this.#files.push(file)
    const child = spawnProgram({ SPENDER_TASK: JSON.stringify({ ...this.#task, file }) })
    this.#running.add(child)
    child.once('exit', () => this.#running.delete(child))
    await heard(child, 'ready')
    return child
  }

  /** Everything that any process was admitted, including killed processes. */
  spends(): Spends {
    const times = this.#files.flatMap((file) => readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number))
    const spends = new Spends()
    for (const time of times.sort((a, b) => a - b)) spends.add(time, 1)
    return spends
  }

  async stop(): Promise<void> {
    const ends = [...this.#running].map((child) => once(child, 'exit'))
    for (const child of this.#running) child.kill('SIGKILL')
    await Promise.all(ends)
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Runs the task in a process and resolves when it is done. */
export async function spend(child: ChildProcess): Promise<void> {
  const done = heard(child, 'done')
  child.send('go')
  await done
}

function spawnProgram(env: NodeJS.ProcessEnv): ChildProcess {
  const args = ['--conditions=@sluice/source', '-r', HOOK, '-e', `require(${JSON.stringify(PROGRAM)})`]
  return spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
}

function heard(child: ChildProcess, word: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.on('message', (message) => message === word && resolve())
    child.once('exit', (code) => reject(new Error(`a spender ended with ${code} before it was ${word}`)))
  })
}
