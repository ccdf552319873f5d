import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../repository.ts'

const main = join(root, 'examples/gateway/dist/index.js')

/** The built gateway in a child process. */
export class GatewayProcess {
  readonly child: ChildProcess
  /** Exit code and signal. */
  readonly ended: Promise<unknown[]>
  /** Output so far. */
  output = ''

  /** `traffic`: whether the gateway runs its built-in clients. */
  constructor(port: number, traffic: 'on' | 'off' = 'off') {
    if (!existsSync(main)) throw new Error('examples/gateway is not built: npx turbo run build')
    const env = { ...process.env, PORT: String(port), TRAFFIC: traffic, NODE_OPTIONS: '' }
    this.child = spawn(process.execPath, [main], { env })
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text
      })
    }
    this.ended = once(this.child, 'exit')
  }

  /** Resolves once the gateway has printed its start-up lines. */
  async listening(): Promise<this> {
    const stdout = this.child.stdout as NonNullable<ChildProcess['stdout']>
    while (!/curl .*\n\n?$/.test(this.output)) {
      await Promise.race([once(stdout, 'data'), this.ended])
      if (this.child.exitCode !== null) throw new Error(this.output)
    }
    return this
  }

  /** URLs by framework. */
  get urls(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.output.matchAll(/^ +(\w+) +(http:\/\/localhost:\d+)$/gm)].map(([, ...of]) => of))
  }
}
