// A PostgreSQL server that stops with its parent process, however that process ends.
import { execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { childOptions } from '../run/child.mjs'

const { port } = childOptions()
const binaries = folderOfBinaries()
const user = unprivileged()
const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-postgres-'))
if (user.uid !== undefined) chownSync(folder, user.uid, user.gid)
const data = join(folder, 'data')
const env = { PATH: process.env.PATH, TZ: 'UTC' }
const init = [
  '--pgdata',
  data,
  '--username',
  'postgres',
  '--auth',
  'trust',
  '--encoding',
  'UTF8',
  '--no-locale',
  '--no-sync',
]
execFileSync(join(binaries, 'initdb'), init, { ...user, cwd: folder, env, stdio: 'pipe' })
const settings = ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', 'fsync=on']
const args = ['-D', data, '-p', String(port), ...settings]
const server = spawn(join(binaries, 'postgres'), args, { ...user, cwd: folder, env, stdio: 'ignore' })
process.once('exit', () => {
  server.kill('SIGQUIT')
  rmSync(folder, { recursive: true, force: true })
})
process.once('SIGTERM', () => {
  server.once('exit', () => process.exit(0))
  server.kill('SIGINT')
})
listening()

function listening() {
  const socket = createConnection(port, '127.0.0.1')
  socket.once('connect', () => {
    socket.destroy()
    process.send('started')
  })
  socket.once('error', () => setTimeout(listening, 20))
}

/** Folder of the PostgreSQL binaries: POSTGRES_BIN, otherwise the newest Debian folder, otherwise the PATH. */
function folderOfBinaries() {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [process.env.POSTGRES_BIN, ...versions.map((version) => join(debian, version, 'bin'))]
  const found = [...folders, ...(process.env.PATH ?? '').split(':')].find(
    (path) => path && existsSync(join(path, 'initdb')) && existsSync(join(path, 'postgres')),
  )
  if (found) return found
  throw new Error('PostgreSQL is neither where Debian puts it nor named by POSTGRES_BIN: leave out `counters`')
}

/** PostgreSQL refuses to run as root. */
function unprivileged() {
  if (process.getuid?.() !== 0) return {}
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  const [, , uid, gid] = ['postgres', 'nobody']
    .flatMap((name) => lines.filter((line) => line.startsWith(`${name}:`)))[0]
    .split(':')
  return { uid: Number(uid), gid: Number(gid) }
}
