// A Redis server that stops with its parent process, however that process ends.
import { spawn } from 'node:child_process'
import { childOptions } from '../run/child.mjs'

const { binary, port } = childOptions()
const settings = { port, bind: '127.0.0.1', save: '', appendonly: 'no', loglevel: 'warning' }
const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
const server = spawn(binary, args, { cwd: '/', stdio: 'ignore' })
process.once('exit', () => server.kill('SIGKILL'))
process.once('SIGTERM', () => process.exit(0))
server.once('error', (error) => {
  throw error
})
server.once('exit', (code, signal) => {
  throw new Error(`${binary} on port ${port} ended with ${signal ?? code}`)
})
process.send('started')
