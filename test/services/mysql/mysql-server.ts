import { execFileSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import { orStopped } from '../all-started.ts'
import { onFreePorts } from '../free-port.ts'
import { memoryFolder } from '../memory-folder.ts'
import { ServerProcess } from '../processes/server-process.ts'
import { mysqlBinary } from './mysql-binary.ts'

const HOST = '127.0.0.1'
const DATABASE = 'limits'

/**
 * A real MariaDB server on the loopback interface, without passwords. It ends with this process, however this process
 * ends.
 */
export function startMysql(): Promise<MysqlServer> {
  return onFreePorts((port) => orStopped(new MysqlServer(port), (server) => server.start()))
}

/** Created by `startMysql`. */
export class MysqlServer {
  /** Options of a client. */
  readonly address: { readonly host: string; readonly port: number; readonly user: string; readonly database: string }
  readonly #folder = memoryFolder('sluice-mysql-')
  readonly #process = new ServerProcess()

  constructor(port: number) {
    this.address = { host: HOST, port, user: 'root', database: DATABASE }
  }

  /** Starts the server unless it runs, with everything committed before. Resolves when it answers. */
  start(): Promise<void> {
    if (!existsSync(this.#data)) this.#install()
    const command = { binary: mysqlBinary('mariadbd'), args: this.#arguments, folder: this.#folder }
    return this.#process.start(command, () => this.#answers())
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

  /** Kills the server and deletes its folder. */
  async stop(): Promise<void> {
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  get #data(): string {
    return join(this.#folder, 'data')
  }

  get #arguments(): string[] {
    const all = {
      datadir: this.#data,
      socket: join(this.#folder, 'socket'),
      'pid-file': join(this.#folder, 'pid'),
      port: this.address.port,
      'bind-address': HOST,
      'innodb-buffer-pool-size': '32M',
      'innodb-log-file-size': '16M',
    }
    return ['--no-defaults', ...asRoot(), ...Object.entries(all).map(([name, value]) => `--${name}=${value}`)]
  }

  #install(): void {
    const args = ['--no-defaults', `--datadir=${this.#data}`, '--auth-root-authentication-method=normal', ...asRoot()]
    execFileSync(mysqlBinary('mariadb-install-db'), args, { stdio: 'pipe' })
  }

  async #answers(): Promise<boolean> {
    try {
      const { database, ...address } = this.address
      const connection = await createConnection(address)
      await connection.query(`CREATE DATABASE IF NOT EXISTS ${database}`)
      await connection.end()
      return true
    } catch {
      return false
    }
  }
}

/** MariaDB refuses to run as root unless it is asked to. */
function asRoot(): string[] {
  return process.getuid?.() === 0 ? ['--user=root'] : []
}
