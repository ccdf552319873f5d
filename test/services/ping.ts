import { connect } from 'node:net'

/**
 * Whether the Redis server of a process answers PING. If `loaded` is false, any answer is enough, even that the server is
 * loading. Another server may have taken the port meanwhile: it has another process id.
 */
export async function answersPing(port: number, pid: number, loaded: boolean): Promise<boolean> {
  const answer = await ask(port, 'PING')
  if (answer === '' || (loaded && answer.startsWith('-LOADING'))) return false
  // a server with a password does not say who it is
  const answering = /process_id:(\d+)/.exec(await ask(port, 'INFO server'))?.[1]
  return answering === undefined || Number(answering) === pid
}

/** Answer to a command, empty if there is none. */
function ask(port: number, command: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${command}\r\n`))
    socket.setEncoding('utf8')
    socket.once('data', (text: string) => {
      resolve(text)
      socket.destroy()
    })
    socket.once('error', () => {})
    socket.once('close', () => resolve(''))
  })
}
