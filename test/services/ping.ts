import { connect } from 'node:net'

/** Whether a server answers PING. If `loaded` is false, any answer is enough, even that the server is loading. */
export async function answersPing(port: number, loaded: boolean): Promise<boolean> {
  const answer = await ask(port)
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
