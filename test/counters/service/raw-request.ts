import { connect } from 'node:net'
import { systemClock } from '@sluice/limiter-core/backend'

const LATE_MS = 10_000

/** What comes back for these bytes until the server ends the connection. Rejects where it does not. */
export function rawAnswer(port: number, bytes: string | Buffer, { end = true } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    const chunks: Buffer[] = []
    const cancel = systemClock.after(LATE_MS, () => {
      socket.destroy()
      reject(new Error(`no end after ${LATE_MS} ms, got ${Buffer.concat(chunks).toString('latin1').slice(0, 200)}`))
    })
    const settle = (): void => {
      cancel()
      resolve(Buffer.concat(chunks).toString('latin1'))
    }
    // a server may end a connection that still has bytes to read
    socket.on('error', settle).on('close', settle)
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    if (end) socket.end(bytes)
    else socket.write(bytes)
  })
}

/** The status of the first answer in it, 0 for none. */
export function statusIn(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? 0)
}
