import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Client, Pool, type PoolConfig } from 'pg'
import { orStopped } from '../all-started.ts'
import { onFreePorts } from '../free-port.ts'
import { ServerProcess } from '../processes/server-process.ts'
import { unprivileged } from '../processes/unprivileged.ts'
import { postgresBinary } from './postgres-binary.ts'
import { freeMemory, SERVER_END, signalServer } from './postgres-end.ts'
import { copyPrimary } from './postgres-replica.ts'
import { copyTemplate, folderFor } from './postgres-template.ts'

export interface PostgresServerOptions {
  /**
   * Additional arguments of postgres, such as `['-c', 'statement_timeout=1s']`. They override the default arguments.
   */
  readonly args?: readonly string[]
  /** Default: true. False is faster: committed data then survives a crash of the server, but not of the machine. */
  readonly fsync?: boolean
  /** Server to copy at the first start and to follow until `promote`. Default: no server. */
  readonly replicaOf?: { readonly port: number }
}

export interface PostgresStartOptions {
  /**
   * Maximum size of each file in bytes until the next start. Larger writes fail as on a full disk. A file of the
   * write-ahead log has 16 MB, a file of a table has the size of its data.
   */
  readonly maxFileBytes?: number
}

const HOST = '127.0.0.1'
/** Unit in which a shell counts file sizes. */
const BLOCK_BYTES = 512
/** Name of the only user, and of the database. */
const NAME = 'postgres'

/**
 * A real PostgreSQL server on the loopback interface, without passwords. It ends with this process, however this
 * process ends.
 */
export function startPostgres(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  return onFreePorts((port) => orStopped(new PostgresServer(port, options), (server) => server.start()))
}

/** Created by `startPostgres`. */
export class PostgresServer {
  readonly port: number
  readonly url: string
  /** In memory if there is room. Deleted by `stop`. */
  readonly folder: string
  readonly #arguments: readonly string[]
  readonly #primary: { readonly port: number } | undefined
  readonly #pools: Pool[] = []
  readonly #process = new ServerProcess()

  constructor(port: number, { args = [], fsync = true, replicaOf }: PostgresServerOptions) {
    this.#primary = replicaOf
    this.port = port
    this.url = `postgres://${NAME}@${HOST}:${port}/${NAME}`
    this.folder = folderFor(unprivileged())
    this.#arguments = ['-D', this.#data, '-p', String(port), ...settings(fsync), ...args]
  }

  /** Process id of the postmaster, -1 while it does not run. */
  get pid(): number {
    return this.#process.pid
  }

  /** Everything that it wrote so far. */
  get output(): string {
    return this.#process.output
  }

  /** Starts the server unless it runs, with everything committed before. Resolves when it answers. */
  async start({ maxFileBytes }: PostgresStartOptions = {}): Promise<void> {
    if (!existsSync(this.#data)) {
      if (this.#primary) await copyPrimary(this.folder, this.#primary.port)
      else copyTemplate(this.folder)
    }
    const program = { binary: postgresBinary('postgres'), args: this.#arguments }
    const command = maxFileBytes === undefined ? program : limited(program, maxFileBytes)
    const guarded = { ...command, folder: this.folder, end: SERVER_END, user: unprivileged() }
    await this.#process.start(guarded, () => this.#answers())
  }

  /** The server still accepts connections and bytes, and does not answer. */
  pause(): void {
    if (this.#process.isRunning) signalServer(this.pid, 'STOP')
  }

  resume(): void {
    if (this.#process.isRunning) signalServer(this.pid, 'CONT')
  }

  /**
   * Simulates a crash. Resolves when the postmaster is gone and its children have released their memory and files,
   * although the system may still list them for a moment. Its folder stays.
   */
  kill(): Promise<void> {
    return this.#process.end(() => signalServer(this.pid, 'KILL'))
  }

  /** Like `pg_ctl stop -m immediate`: clients are notified, and nothing more is written. Resolves when it is gone. */
  shutDown(): Promise<void> {
    return this.#process.end('SIGQUIT')
  }

  /** Restarts as after a crash: committed data is kept. */
  async restart(): Promise<void> {
    await this.kill()
    await this.start()
  }

  /** For a replica: stops following and accepts writes. */
  async promote(): Promise<void> {
    await this.pool().query('select pg_promote(true, 20)')
  }

  /** Creates a pool for the test itself. `stop` closes it. */
  pool(options: PoolConfig = {}): Pool {
    const pool = new Pool({ ...this.#address, ...options })
    // tests kill servers on purpose; queries still reject
    pool.on('error', () => {})
    pool.on('connect', (client) => client.on('error', () => {}))
    this.#pools.push(pool)
    return pool
  }

  /** Kills the server, closes the pools and deletes its folder. */
  async stop(): Promise<void> {
    await this.kill()
    // not awaited: a pool waits for clients that the test has not released
    for (const pool of this.#pools) if (!pool.ending) void pool.end()
    freeMemory(this.folder)
    rmSync(this.folder, { recursive: true, force: true })
  }

  get #data(): string {
    return join(this.folder, 'data')
  }

  get #address() {
    return { host: HOST, port: this.port, user: NAME, database: NAME, ssl: false }
  }

  async #answers(): Promise<boolean> {
    const client = new Client(this.#address)
    client.on('error', () => {})
    try {
      await client.connect()
      await client.end()
      return true
    } catch {
      return false
    }
  }
}

interface Program {
  readonly binary: string
  readonly args: readonly string[]
}

/** The same program, started by a shell that has set the limit. */
function limited({ binary, args }: Program, maxFileBytes: number): Program {
  const script = `ulimit -f ${Math.ceil(maxFileBytes / BLOCK_BYTES)}; exec "$0" "$@"`
  return { binary: 'sh', args: ['-c', script, binary, ...args] }
}

function settings(fsync: boolean): string[] {
  const all = {
    listen_addresses: HOST,
    unix_socket_directories: '',
    max_connections: '50',
    shared_buffers: '16MB',
    fsync: fsync ? 'on' : 'off',
    // everything in the folder is deleted with the folder, even after a crash
    dynamic_shared_memory_type: 'mmap',
  }
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}
