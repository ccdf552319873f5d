import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/** A TCP proxy to a port of this machine. While it is paused, connections stay open and nothing passes. */
export async function proxyTo(port) {
  const sockets = new Set()
  let isPaused = false
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ]) {
      sockets.add(from)
      from.on('data', (chunk) => to.write(chunk))
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      if (isPaused) from.pause()
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const setPaused = (paused) => {
    isPaused = paused
    for (const socket of sockets) paused ? socket.pause() : socket.resume()
  }
  return { port: server.address().port, pause: () => setPaused(true), resume: () => setPaused(false) }
}
