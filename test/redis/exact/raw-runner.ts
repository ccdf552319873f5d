import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Script, ScriptRunner } from '@sluice/limiter-core'

type Waiting = { readonly resolve: (reply: unknown) => void; readonly reject: (error: Error) => void }

/** A client other than ioredis: a socket, `EVAL`, and the part of the protocol that our scripts need. */
export class RawRunner implements ScriptRunner {
  readonly #socket: Socket
  readonly #waiting: Waiting[] = []
  #received = ''

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1').setEncoding('utf8')
    this.#socket.on('data', (text: unknown) => {
      this.#received += text
      for (let end = this.#settle(0); end > 0; end = this.#settle(0)) this.#received = this.#received.slice(end)
    })
  }

  async ready(): Promise<void> {
    await once(this.#socket, 'connect')
  }

  close(): void {
    this.#socket.destroy()
  }

  run({ text }: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const words = ['EVAL', text, keys.length, ...keys, ...args].map(String)
    this.#socket.write(
      `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`,
    )
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  /** Settles the first call if its reply is complete. Returns the end of the reply, or 0 if it is incomplete. */
  #settle(from: number): number {
    const { reply, end } = this.#parse(from)
    if (end === 0) return 0
    const first = this.#waiting.shift()
    if (reply instanceof Error) first?.reject(reply)
    else first?.resolve(reply)
    return end
  }

  #parse(from: number): { reply?: unknown; end: number } {
    const lineEnd = this.#received.indexOf('\r\n', from)
    if (lineEnd < 0) return { end: 0 }
    const line = this.#received.slice(from + 1, lineEnd)
    const kind = this.#received[from]
    if (kind === '-') return { reply: new Error(line), end: lineEnd + 2 }
    if (kind === ':') return { reply: Number(line), end: lineEnd + 2 }
    if (kind === '*') return this.#parseList(Number(line), lineEnd + 2)
    const end = lineEnd + 2 + Number(line) + 2
    return end > this.#received.length ? { end: 0 } : { reply: this.#received.slice(lineEnd + 2, end - 2), end }
  }

  #parseList(count: number, from: number): { reply?: unknown; end: number } {
    const list: unknown[] = []
    let end = from
    while (list.length < count) {
      const one = this.#parse(end)
      if (one.end === 0) return { end: 0 }
      list.push(one.reply)
      end = one.end
    }
    return { reply: list, end }
  }
}
