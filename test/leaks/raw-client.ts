import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { until } from '@sluice/testkit'

export const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

/** A client that writes and reads raw bytes, and can disconnect at any time. */
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
    // a server may end a connection while the client writes
    socket.on('error', () => {})
    socket.setEncoding('latin1').on('data', (text: string) => {
      this.heard += text
    })
  }

  send(text: string | Uint8Array): void {
    this.socket.write(text)
  }

  /** Waits until `text` has been received `times`. */
  hears(text: string, times = 1): Promise<void> {
    return until(() => this.heard.split(text).length > times, {
      what: `hearing ${JSON.stringify(text)} ${times} times`,
    })
  }

  /** Disconnects without sending anything. */
  leave(): void {
    this.socket.destroy()
  }

  closed(): Promise<void> {
    return until(() => this.socket.closed, { what: 'the end of the connection' })
  }
}
