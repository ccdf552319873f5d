import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:net'

/** A Redis server that the example starts and may kill. It stores nothing on disk, so it is empty after a restart. */
export class RedisProcess {
  readonly port: number
  #child: ChildProcess | undefined

  private constructor(port: number) {
    this.port = port
  }

  static async start(): Promise<RedisProcess> {
    const redis = new RedisProcess(await freePort())
    await redis.start()
    return redis
  }

  get alive(): boolean {
    return this.#child !== undefined
  }

  /** Starts the server, without data. */
  async start(): Promise<void> {
    const options = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
    const child = spawn(process.env.REDIS_SERVER || 'redis-server', options, { stdio: 'ignore' })
    await once(child, 'spawn')
    this.#child = child
    while (!(await accepts(this.port))) {
      if (child.exitCode !== null) throw new Error(`redis-server ended at once, with code ${child.exitCode}`)
    }
  }

  /** Kills the server as a power failure would. */
  async kill(): Promise<void> {
    const child = this.#child
    if (!child) return
    this.#child = undefined
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 20))
    return false
  } finally {
    socket.destroy()
  }
}
