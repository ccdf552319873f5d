import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { onFreePorts } from '../free-port.ts'
import { INCREX } from './increx-script.ts'
import { RequestParser } from './request-parser.ts'

export interface IncrexProxyOptions {
  /** Clock in ms that replaces the server's clock for `INCREX`. Default: the server's clock. */
  readonly serverTime?: () => number
  /** Default: a free port. */
  readonly port?: number
}

/**
 * Puts `INCREX` in front of a real server that does not have the command: each `INCREX` becomes a script with the
 * documented semantics, and everything else passes unchanged.
 */
export function startIncrexProxy(targetPort: number, options: IncrexProxyOptions = {}): Promise<IncrexProxy> {
  const start = async (port: number): Promise<IncrexProxy> => {
    const proxy = new IncrexProxy(port, targetPort, options)
    await proxy.listen()
    return proxy
  }
  return options.port === undefined ? onFreePorts(start) : start(options.port)
}

/** Created by `startIncrexProxy`. */
export class IncrexProxy {
  readonly port: number
  readonly url: string
  /** Whether the server has the command. Otherwise it passes unchanged, and the real server refuses it. */
  hasCommand = true
  /** Number of `INCREX` commands that were received, with or without the command. */
  received = 0
  /** Errors with which commands are refused, by their names in upper case. */
  readonly refusals = new Map<string, string>()
  readonly #targetPort: number
  readonly #serverTime: (() => number) | undefined
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined

  constructor(port: number, targetPort: number, { serverTime }: IncrexProxyOptions) {
    this.port = port
    this.url = `redis://127.0.0.1:${port}`
    this.#targetPort = targetPort
    this.#serverTime = serverTime
  }

  async listen(): Promise<void> {
    this.#server = createServer({ noDelay: true }, (client) => this.#accept(client)).listen(this.port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  /** Ends all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async stop(): Promise<void> {
    this.cut()
    this.#server?.close()
  }

  #accept(client: Socket): void {
    const server = connect({ port: this.#targetPort, host: '127.0.0.1', noDelay: true })
    const requests = new RequestParser()
    client.on('data', (data) => server.write(Buffer.concat(requests.push(data).map((words) => this.#translate(words)))))
    server.pipe(client)
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ]) {
      this.#sockets.add(socket)
      // reported by its close event
      socket.on('error', () => {})
      socket.once('close', () => {
        this.#sockets.delete(socket)
        other.destroy()
      })
    }
  }

  #translate(words: readonly Buffer[]): Buffer {
    const [word, key, ...args] = words.map(String)
    const name = word.toUpperCase()
    if (name === 'INCREX') this.received++
    const refusal = this.refusals.get(name)
    if (refusal) return encoded(['EVAL', 'return redis.error_reply(ARGV[1])', '0', refusal])
    if (name !== 'INCREX' || !this.hasCommand) return encoded(words)
    const now = this.#serverTime ? String(this.#serverTime()) : ''
    return encoded(['EVAL', INCREX, '1', key, now, ...args])
  }
}

function encoded(words: readonly (Buffer | string)[]): Buffer {
  const parts = words.flatMap((word) => [Buffer.from(`$${Buffer.byteLength(word)}\r\n`), Buffer.from(word), CRLF])
  return Buffer.concat([Buffer.from(`*${words.length}\r\n`), ...parts])
}

const CRLF = Buffer.from('\r\n')
