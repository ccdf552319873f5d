// Cloudflare's runtime with one Worker and its Durable Objects on disk. It stops with its parent process, however that
// process ends.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { childOptions } from '../run/child.mjs'

const { worker } = childOptions()
const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-workerd-'))
mkdirSync(join(folder, 'objects', 'limits'), { recursive: true })
await build({
  entryPoints: [worker],
  outfile: join(folder, 'worker.mjs'),
  bundle: true,
  format: 'esm',
  target: 'es2022',
  conditions: ['workerd', 'worker', 'browser', 'import', 'default'],
  external: ['cloudflare:workers', 'node:*'],
  logLevel: 'error',
})
writeFileSync(
  join(folder, 'config.capnp'),
  `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "disk", disk = (path = "${join(folder, 'objects')}", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
  compatibilityDate = "2026-11-01",
  bindings = [(name = "LIMITS", durableObjectNamespace = "LimitObject")],
  durableObjectNamespaces = [(className = "LimitObject", uniqueKey = "limits", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
);
`,
)
const server = spawn(binary(), ['serve', 'config.capnp', '--control-fd=1'], {
  cwd: folder,
  stdio: ['ignore', 'pipe', 'inherit'],
})
process.once('exit', () => {
  server.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})
process.once('SIGTERM', () => process.exit(0))
let output = ''
server.stdout.on('data', (bytes) => {
  output += bytes
  const [, port] = /"socket":"http","port":(\d+)/.exec(output) ?? []
  if (port !== undefined) process.send(Number(port))
})

/** Installation scripts need not have run. */
function binary() {
  const names = ['workerd-linux-64', 'workerd-linux-arm64', 'workerd-darwin-arm64']
  const found = names.map((name) => join(modules, '@cloudflare', name, 'bin/workerd')).find((path) => existsSync(path))
  if (found) return found
  throw new Error('workerd is not installed for this platform: npm ci')
}
