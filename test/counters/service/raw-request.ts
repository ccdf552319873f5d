import { connect } from 'node:net'
import { systemClock } from '@sluice/limiter-core/backend'

const LATE_MS = 10_000

/** Sends these bytes and returns everything received until the server closes the connection. Rejects if it does not. */
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
    // a server may close a connection that still has unread bytes
    socket.on('error', settle).on('close', settle)
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    if (end) socket.end(bytes)
    else socket.write(bytes)
  })
}

/** Returns the status of the first answer, or 0 if there is none. */
export function statusIn(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? 0)
}
