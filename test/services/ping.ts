import { connect } from 'node:net'
import { until } from '@sluice/testkit'

const TIMEOUT_MS = 20_000

interface Awaited {
  /** If false, any answer is enough, even that the server is loading. */
  readonly loaded: boolean
  readonly alive: () => boolean
  /** Output of the server, for the error message. */
  readonly output: () => string
}

/** Waits until a server answers PING. Rejects as soon as its process is gone. */
export async function ping(port: number, { loaded, alive, output }: Awaited): Promise<void> {
  let answer = ''
  while (!isReady(answer, loaded)) {
    const asked = { done: false }
    void ask(port).then((text) => {
      answer = text
      asked.done = true
    })
    await until(() => asked.done || !alive(), { timeoutMs: TIMEOUT_MS, what: `an answer of Redis on port ${port}` })
    if (!alive()) throw new Error(`redis-server on port ${port} has ended: ${output()}`)
  }
}

function isReady(answer: string, loaded: boolean): boolean {
  return answer !== '' && !(loaded && answer.startsWith('-LOADING'))
}

/** Answer to PING, empty if there is none. */
function ask(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    socket.setEncoding('utf8')
    socket.once('data', (text: string) => {
      resolve(text)
      socket.destroy()
    })
    socket.once('error', () => {})
    socket.once('close', () => resolve(''))
  })
}
