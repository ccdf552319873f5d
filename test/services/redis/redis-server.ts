import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { Redis, type RedisOptions } from 'ioredis'
import { orStopped } from '../all-started.ts'
import { onFreePorts } from '../free-port.ts'
import { memoryFolder } from '../memory-folder.ts'
import { answersPing } from '../ping.ts'
import { ServerProcess } from '../processes/server-process.ts'
import { redisBinary } from './redis-binary.ts'

export interface RedisServerOptions {
  /** Additional arguments of redis-server, such as `['--maxmemory', '1mb']`. */
  readonly args?: readonly string[]
  /** Default: a free port. */
  readonly port?: number
}

export interface RestartOptions {
  /** Default: true, as after a crash without persistence. If false, a running server saves its data first. */
  readonly empty?: boolean
  /**
   * Default: true, which waits until the server accepts commands. If false, any answer is enough, even that it is
   * loading.
   */
  readonly loaded?: boolean
}

/**
 * A real redis-server on the loopback interface, without persistence. It ends with this process, however this process
 * ends.
 */
export function startRedis({ args = [], port }: RedisServerOptions = {}): Promise<RedisServer> {
  const start = (at: number) => startServer(at, (folder) => [...persistsNothing(folder), ...args])
  return port === undefined ? onFreePorts(start) : start(port)
}

/** A redis-server with only these arguments. Nothing is left behind if it cannot start. */
export function startServer(port: number, argumentsIn: (folder: string) => readonly string[]): Promise<RedisServer> {
  return orStopped(new RedisServer(port, argumentsIn), (server) => server.start())
}

/** Created by `startRedis`, and by helpers that start several servers. */
export class RedisServer {
  readonly port: number
  readonly url: string
  /** In memory if there is room. Deleted by `stop`. */
  readonly folder: string
  readonly #arguments: readonly string[]
  readonly #clients: Redis[] = []
  readonly #process = new ServerProcess()

  /** `argumentsIn` returns the arguments in addition to port and address for a given folder. */
  constructor(port: number, argumentsIn: (folder: string) => readonly string[]) {
    this.port = port
    this.url = `redis://127.0.0.1:${port}`
    // a cluster persists each change of its slots before it continues, so tests would measure a slow disk
    this.folder = memoryFolder('sluice-redis-')
    this.#arguments = [...argumentsIn(this.folder), '--port', String(port), '--bind', '127.0.0.1']
  }

  /** Process id, -1 while it does not run. */
  get pid(): number {
    return this.#process.pid
  }

  /** Everything that it wrote so far, warnings and errors only. */
  get output(): string {
    return this.#process.output
  }

  /** Starts the server unless it runs. Resolves when it answers. */
  start({ loaded = true }: { loaded?: boolean } = {}): Promise<void> {
    const command = { binary: redisBinary(), args: this.#arguments, folder: this.folder }
    return this.#process.start(command, () => answersPing(this.port, this.pid, loaded))
  }

  /** The server still accepts connections and bytes, and does not answer. */
  pause(): void {
    this.#process.signal('SIGSTOP')
  }

  resume(): void {
    this.#process.signal('SIGCONT')
  }

  /** Simulates a crash. Resolves when the process is gone. Its folder stays. */
  kill(): Promise<void> {
    return this.#process.end()
  }

  async restart({ empty = true, loaded = true }: RestartOptions = {}): Promise<void> {
    if (!empty && this.#process.isRunning) await this.client().call('SAVE')
    await this.kill()
    if (empty) rmSync(join(this.folder, 'dump.rdb'), { force: true })
    await this.start({ loaded })
  }

  /** Creates a client for the test itself, ioredis 6. `stop` closes it. */
  client(options: Omit<RedisOptions, 'replyMapping'> = {}): Redis {
    // its timer would keep the process alive for 2 s if the connection is already gone
    const client = new Redis({ port: this.port, host: '127.0.0.1', disconnectTimeout: 100, ...options })
    // tests kill servers on purpose; commands still reject
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
}

function persistsNothing(folder: string): string[] {
  return ['--dir', folder, '--loglevel', 'warning', '--save', '', '--appendonly', 'no']
}
