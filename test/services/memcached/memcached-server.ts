import { rmSync } from 'node:fs'
import { connect } from 'node:net'
import { orStopped } from '../all-started.ts'
import { onFreePorts } from '../free-port.ts'
import { memoryFolder } from '../memory-folder.ts'
import { ServerProcess } from '../processes/server-process.ts'
import { memcachedBinary } from './memcached-binary.ts'

const HOST = '127.0.0.1'

/**
 * A real memcached on the loopback interface, with additional arguments such as `['-M']`. It ends with this process,
 * however this process ends.
 */
export function startMemcached(args: readonly string[] = []): Promise<MemcachedServer> {
  return onFreePorts((port) => orStopped(new MemcachedServer(port, args), (server) => server.start()))
}

/** Created by `startMemcached`. */
export class MemcachedServer {
  /** Host and port, for clients. */
  readonly address: string
  readonly port: number
  readonly #arguments: readonly string[]
  readonly #folder = memoryFolder('sluice-memcached-')
  readonly #process = new ServerProcess()

  constructor(port: number, args: readonly string[]) {
    this.address = `${HOST}:${port}`
    this.port = port
    // refuses to run as root unless the user is named
    const user = process.getuid?.() === 0 ? ['-u', 'root'] : []
    this.#arguments = ['-l', HOST, '-p', String(port), '-U', '0', '-t', '2', '-m', '64', ...user, ...args]
  }

  /** Starts the server unless it runs, without rows. Resolves when it accepts connections. */
  start(): Promise<void> {
    const command = { binary: memcachedBinary(), args: this.#arguments, folder: this.#folder }
    return this.#process.start(command, () => this.#accepts())
  }

  /** The server still accepts connections and bytes, and does not answer. */
  pause(): void {
    this.#process.signal('SIGSTOP')
  }

  resume(): void {
    this.#process.signal('SIGCONT')
  }

  /** Simulates a crash. Resolves when the process is gone, and all its rows. */
  kill(): Promise<void> {
    return this.#process.end()
  }

  /** Kills the server and deletes its folder. */
  async stop(): Promise<void> {
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #accepts(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.port, HOST)
      socket.once('connect', () => {
        socket.destroy()
        resolve(true)
      })
      socket.once('error', () => resolve(false))
    })
  }
}
