import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../services/eventually.ts'
import { spawnGuarded } from '../services/guarded-process.ts'
import { memoryFolder } from '../services/memory-folder.ts'
import { runtimeBinary } from './runtime-binary.ts'

export interface WorkerOptions {
  /** The Worker, as one module. */
  readonly text: string
  readonly compatibilityFlags?: readonly string[]
  /** Further lines of its configuration in Cap'n Proto: Durable Objects and bindings. */
  readonly configuration?: readonly string[]
}

/** A Worker in Cloudflare's runtime. */
export interface RunningWorker {
  readonly url: string
  /** What the runtime and the Worker printed. */
  output(): string
  stop(): Promise<void>
}

const COMPATIBILITY_DATE = '2026-11-01'

/** Starts Cloudflare's runtime with one Worker on a free port. Rejects with its output if it does not start. */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const folder = memoryFolder('sluice-workerd-')
  writeFileSync(join(folder, 'worker.mjs'), options.text)
  writeFileSync(join(folder, 'config.capnp'), configOf(options))
  let output = ''
  let isClosed = false
  // prints the port on file descriptor 1
  const args = ['serve', 'config.capnp', '--control-fd=1']
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
  const port = (): string | undefined => /"socket":"http","port":(\d+)/.exec(output)?.[1]
  await eventually(async () => isClosed || port() !== undefined, { what: 'the port of the Worker' })
  if (isClosed) throw new Error(output)
  return {
    url: `http://127.0.0.1:${port()}`,
    output: () => output,
    stop: async () => {
      child.kill('SIGKILL')
      if (!isClosed) await once(child, 'close')
    },
  }
}

function configOf({ compatibilityFlags = [], configuration = [] }: WorkerOptions): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
  compatibilityDate = "${COMPATIBILITY_DATE}",
  compatibilityFlags = ${JSON.stringify(compatibilityFlags)},
  ${configuration.join('\n  ')}
);
`
}
