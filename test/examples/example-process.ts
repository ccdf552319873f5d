import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../repository.ts'

/** A built example in a child process, on a free port. */
export class ExampleProcess {
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown[]>
  /** Output so far. */
  output = ''

  /** `name`: name of the example's folder. */
  constructor(name: string, env: Readonly<Record<string, string>>, args: readonly string[] = []) {
    const main = join(root, 'examples', name, 'dist/index.js')
    if (!existsSync(main)) throw new Error(`examples/${name} is not built: npx turbo run build`)
    const { POSTGRES_URL: _theirs, REDIS_URL: _too, ...others } = process.env
    this.#child = spawn(process.execPath, [main, ...args], { env: { ...others, NODE_OPTIONS: '', PORT: '0', ...env } })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text
      })
    }
    this.#ended = once(this.#child, 'exit')
  }

  /** Resolves with the URL once the example is serving. */
  async url(): Promise<string> {
    for (;;) {
      const [, url] = /listening on (\S+)/.exec(this.output) ?? []
      if (url !== undefined) return url
      if (this.#child.exitCode !== null) throw new Error(this.output)
      await Promise.race([once(this.#child.stdout as NonNullable<ChildProcess['stdout']>, 'data'), this.#ended])
    }
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
  }

  /** Resolves with the exit code. */
  async end(): Promise<unknown> {
    this.#child.kill('SIGTERM')
    const [code] = await this.#ended
    return code
  }
}
