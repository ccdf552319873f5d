// A MariaDB server that stops with its parent process, however that process ends.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { childOptions } from '../run/child.mjs'

const { port } = childOptions()
const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-mariadb-'))
const data = join(folder, 'data')
// MariaDB refuses to run as root unless it is asked to
const asRoot = process.getuid?.() === 0 ? ['--user=root'] : []
const init = ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', ...asRoot]
execFileSync(located('mariadb-install-db'), init, { stdio: 'pipe' })
const args = [
  '--no-defaults',
  ...asRoot,
  `--datadir=${data}`,
  `--socket=${join(folder, 'socket')}`,
  `--pid-file=${join(folder, 'pid')}`,
  `--port=${port}`,
  '--bind-address=127.0.0.1',
]
const server = spawn(located('mariadbd'), args, { stdio: 'ignore' })
process.once('exit', () => {
  server.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})
process.once('SIGTERM', () => {
  server.once('exit', () => process.exit(0))
  server.kill('SIGKILL')
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

/** Path of a program: in the folder MARIADB_BIN, otherwise on the PATH, otherwise where Debian puts it. */
function located(program) {
  const folders = [process.env.MARIADB_BIN, ...(process.env.PATH ?? '').split(':'), '/usr/sbin']
  const found = folders.find((path) => path && existsSync(join(path, program)))
  if (found) return join(found, program)
  throw new Error(`${program} is neither on the PATH nor in the folder MARIADB_BIN: leave out \`stores\``)
}
