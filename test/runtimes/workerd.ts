import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../services/eventually.ts'
import { memoryFolder } from '../services/memory-folder.ts'
import { spawnGuarded } from '../services/processes/guarded-process.ts'
import { runtimeBinary } from './runtime-binary.ts'

export interface WorkerOptions {
  /** The Worker, as one module. */
  readonly text: string
  /** Default: 2026-11-01. */
  readonly compatibilityDate?: string
  readonly compatibilityFlags?: readonly string[]
  /** Durable Objects of a class `LimitObject`, which the Worker exports, with the binding `LIMITS`. */
  readonly objects?: {
    /** Whether they have the storage of SQLite. */
    readonly sql: boolean
    /** Folder of their storage. Default: in memory. */
    readonly folder?: string
  }
  /** Whether Workers have a D1 database, the same for all, with the binding `DATABASE`. Default: false. */
  readonly database?: boolean
  /** Texts by the name of their binding. With any, Workers reach servers of this machine. */
  readonly texts?: Readonly<Record<string, string>>
  /** Number of Workers that run the module and share the Durable Objects of the first. Default: 1. */
  readonly workers?: number
}

/** A Worker in Cloudflare's runtime. */
export interface RunningWorker {
  readonly url: string
  /** URLs of all Workers, of which `url` is the first. */
  readonly urls: readonly string[]
  /** What the runtime and the Worker printed. */
  output(): string
  stop(): Promise<void>
}

const COMPATIBILITY_DATE = '2026-11-01'

/** Starts Cloudflare's runtime with Workers on free ports. Rejects with its output if it does not start. */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const folder = memoryFolder('sluice-workerd-')
  writeFileSync(join(folder, 'worker.mjs'), options.text)
  writeFileSync(join(folder, 'config.capnp'), configOf(options))
  mkdirSync(join(folder, 'databases'))
  let output = ''
  let isClosed = false
  // prints the port on file descriptor 1
  const args = ['serve', 'config.capnp', '--control-fd=1', ...(options.database ? ['--experimental'] : [])]
  const child = spawnGuarded(
    { binary: runtimeBinary('workerd'), args, folder },
    {
      onOutput: (text) => {
        output += text
      },
      onClose: () => {
        isClosed = true
      },
    },
  )
  const names = workerNames(options)
  const ports = (): string[] => {
    const found = names.map((name) => new RegExp(`"socket":"${name}","port":(\\d+)`).exec(output)?.[1])
    return found.filter((port) => port !== undefined)
  }
  await eventually(async () => isClosed || ports().length === names.length, { what: 'the ports of the Workers' })
  if (isClosed) throw new Error(output)
  const urls = ports().map((port) => `http://127.0.0.1:${port}`)
  return {
    url: urls[0],
    urls,
    output: () => output,
    stop: async () => {
      child.kill('SIGKILL')
      if (!isClosed) await once(child, 'close')
    },
  }
}

function workerNames({ workers = 1 }: WorkerOptions): readonly string[] {
  return Array.from({ length: workers }, (_, index) => `worker${index}`)
}

function configOf(options: WorkerOptions): string {
  const names = workerNames(options)
  const { folder } = options.objects ?? {}
  const services = names.map((name) => `(name = "${name}", worker = .${name})`)
  if (options.texts) services.push('(name = "internet", network = (allow = ["public", "private"]))')
  if (folder !== undefined) services.push(`(name = "disk", disk = (path = "${folder}", writable = true))`)
  if (options.database) {
    services.push('(name = "d1", worker = .d1)', '(name = "databases", disk = (path = "databases", writable = true))')
  }
  const sockets = names.map((name) => `(name = "${name}", address = "127.0.0.1:0", http = (), service = "${name}")`)
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [${services}], sockets = [${sockets}]);
${names.map((name, index) => workerOf(name, options, index === 0)).join('\n')}
${options.database ? DATABASE : ''}
`
}

/** The Worker of the runtime that serves D1 databases. */
const DATABASE = `const d1 :Workerd.Worker = (
  modules = [(name = "d1.js", bundled = "/workerd/d1.js")],
  compatibilityDate = "${COMPATIBILITY_DATE}",
  bindings = [(name = "DATABASE", durableObjectNamespace = (className = "D1Database"))],
  durableObjectNamespaces = [(className = "D1Database", uniqueKey = "d1", enableSql = true)],
  durableObjectStorage = (localDisk = "databases")
);`

/** The binding of a database, as the runtime documents it. */
const DATABASE_BINDING = `(name = "DATABASE", wrapped = (moduleName = "cloudflare-internal:d1-api", innerBindings = [
  (name = "fetcher", service = (name = "d1", props = (json = "{\\"database\\": \\"limits\\"}")))]))`

function workerOf(name: string, options: WorkerOptions, isOwner: boolean): string {
  const { compatibilityDate = COMPATIBILITY_DATE, compatibilityFlags = [], objects, texts = {} } = options
  const bindings = Object.entries(texts).map(([binding, text]) => `(name = "${binding}", text = "${text}")`)
  if (options.database) bindings.push(DATABASE_BINDING)
  const fields = [
    'modules = [(name = "worker.mjs", esModule = embed "worker.mjs")]',
    `compatibilityDate = "${compatibilityDate}"`,
    `compatibilityFlags = ${JSON.stringify(compatibilityFlags)}`,
  ]
  if (objects) {
    const owner = isOwner ? '' : ', serviceName = "worker0"'
    bindings.push(`(name = "LIMITS", durableObjectNamespace = (className = "LimitObject"${owner}))`)
  }
  fields.push(`bindings = [${bindings}]`)
  if (objects && isOwner) {
    fields.push(
      // an object that waits on a busy machine would be evicted, and its counts have the times of another clock
      `durableObjectNamespaces = [(className = "LimitObject", uniqueKey = "limits", enableSql = ${objects.sql}, ` +
        'preventEviction = true)]',
      `durableObjectStorage = (${objects.folder === undefined ? 'inMemory = void' : 'localDisk = "disk"'})`,
    )
  }
  return `const ${name} :Workerd.Worker = (${fields.join(', ')});`
}
