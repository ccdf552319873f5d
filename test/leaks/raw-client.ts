import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { until } from '@sluice/testkit'

export const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

/** A client that writes and hears bytes, and leaves when it likes. */
export class RawClient {
  readonly socket: Socket
  heard = ''

  static async to(port: number): Promise<RawClient> {
    const client = new RawClient(connect(port, '127.0.0.1'))
    await once(client.socket, 'connect')
    return client
  }

  constructor(socket: Socket) {
    this.socket = socket
    // a server that ends a connection while the client writes is no fault
    socket.on('error', () => {})
    socket.setEncoding('latin1').on('data', (text: string) => {
      this.heard += text
    })
  }

  send(text: string | Uint8Array): void {
    this.socket.write(text)
  }

  /** Waits until `text` was heard `times`. */
  hears(text: string, times = 1): Promise<void> {
    return until(() => this.heard.split(text).length > times, {
      what: `hearing ${JSON.stringify(text)} ${times} times`,
    })
  }

  /** Leaves without a word. */
  leave(): void {
    this.socket.destroy()
  }

  closed(): Promise<void> {
    return until(() => this.socket.closed, { what: 'the end of the connection' })
  }
}
