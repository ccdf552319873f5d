import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis, type RedisOptions } from 'ioredis'
import { orStopped } from './all-started.ts'
import { onFreePorts } from './free-port.ts'
import { spawnGuarded } from './guarded-process.ts'
import { ping } from './ping.ts'
import { redisBinary } from './redis-binary.ts'

export interface RedisServerOptions {
  /** Further arguments of redis-server, as `['--maxmemory', '1mb']`. */
  readonly args?: readonly string[]
  /** Default: a free one. */
  readonly port?: number
}

export interface RestartOptions {
  /** Default true: as after a crash without persistence. False: what it holds is saved first, if it still runs. */
  readonly empty?: boolean
  /** Default true: wait until it answers as usual. False: until it answers at all, be it that it is loading. */
  readonly loaded?: boolean
}

/** A real redis-server on the loopback, without persistence, that ends with this process however that ends. */
export function startRedis({ args = [], port }: RedisServerOptions = {}): Promise<RedisServer> {
  const start = (at: number) => startServer(at, (folder) => [...persistsNothing(folder), ...args])
  return port === undefined ? onFreePorts(start) : start(port)
}

/** A redis-server with no arguments but those. Nothing is left of one that cannot start. */
export function startServer(port: number, argumentsIn: (folder: string) => readonly string[]): Promise<RedisServer> {
  return orStopped(new RedisServer(port, argumentsIn), (server) => server.start())
}

/** Made by `startRedis`, and by those who start several. */
export class RedisServer {
  readonly port: number
  readonly url: string
  /** Below the folder of temporary files; gone after `stop`. */
  readonly folder: string
  readonly #arguments: readonly string[]
  readonly #clients: Redis[] = []
  #child: ChildProcess | undefined
  #output = ''

  /** `argumentsIn` are those beside its port and address, where its folder is that. */
  constructor(port: number, argumentsIn: (folder: string) => readonly string[]) {
    this.port = port
    this.url = `redis://127.0.0.1:${port}`
    this.folder = mkdtempSync(join(inMemory() ?? tmpdir(), 'sluice-redis-'))
    this.#arguments = [...argumentsIn(this.folder), '--port', String(port), '--bind', '127.0.0.1']
  }

  /** -1 while it does not run. */
  get pid(): number {
    return this.#child?.pid ?? -1
  }

  /** What it wrote so far, warnings and worse. */
  get output(): string {
    return this.#output
  }

  /** Starts it where it does not run; answers when it does. */
  async start({ loaded = true }: { loaded?: boolean } = {}): Promise<void> {
    if (this.#child !== undefined) return
    this.#child = this.#spawn()
    const child = this.#child
    await ping(this.port, { loaded, alive: () => this.#child === child, output: () => this.#output })
  }

  /** It goes on accepting connections and bytes, and answers nothing. */
  pause(): void {
    this.#child?.kill('SIGSTOP')
  }

  resume(): void {
    this.#child?.kill('SIGCONT')
  }

  /** As a crash does it, and answers when the process is gone. Its folder stays. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    child.kill('SIGKILL')
    await once(child, 'close')
  }

  async restart({ empty = true, loaded = true }: RestartOptions = {}): Promise<void> {
    if (!empty && this.#child !== undefined) await this.client().call('SAVE')
    await this.kill()
    if (empty) rmSync(join(this.folder, 'dump.rdb'), { force: true })
    await this.start({ loaded })
  }

  /** A client for the test itself, ioredis 6; `stop` closes it. */
  client(options: Omit<RedisOptions, 'replyMapping'> = {}): Redis {
    // its timer would keep the process for 2 s where the connection has gone before
    const client = new Redis({ port: this.port, host: '127.0.0.1', disconnectTimeout: 100, ...options })
    // a server that is killed is what tests are about; commands still reject
    client.on('error', () => {})
    this.#clients.push(client)
    return client
  }

  /** Closes the clients, kills the server and deletes its folder. */
  async stop(): Promise<void> {
    for (const client of this.#clients) client.disconnect()
    await this.kill()
    rmSync(this.folder, { recursive: true, force: true })
  }

  #spawn(): ChildProcess {
    return spawnGuarded(
      { binary: redisBinary(), args: this.#arguments, folder: this.folder },
      {
        onOutput: (text) => {
          this.#output += text
        },
        onClose: (child) => {
          if (this.#child === child) this.#child = undefined
        },
      },
    )
  }
}

/** A cluster writes down each change of its slots before it goes on: a slow disk would be what tests measure. */
function inMemory(): string | undefined {
  return existsSync('/dev/shm') ? '/dev/shm' : undefined
}

function persistsNothing(folder: string): string[] {
  return ['--dir', folder, '--loglevel', 'warning', '--save', '', '--appendonly', 'no']
}
