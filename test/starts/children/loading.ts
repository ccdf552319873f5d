import { createHook } from 'node:async_hooks'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { root } from '../../repository.ts'

/** What loading did, each with the first of our files on the stack. */
export interface Loading {
  /** Globals that are not part of ECMAScript. */
  readonly globals: readonly string[]
  /** Asynchronous resources that count as open handles. */
  readonly resources: readonly string[]
  /** New listeners of the process. */
  readonly listeners: readonly string[]
}

// an environment of tests that imitates browsers lacks most of them; Workers permit none of the later ones at load
const GLOBALS = [
  ...['TextEncoder', 'TextDecoder', 'URL', 'URLSearchParams', 'AbortController', 'AbortSignal', 'Event', 'EventTarget'],
  ...['fetch', 'Request', 'Response', 'Headers', 'FormData', 'Blob', 'ReadableStream', 'WritableStream', 'WebSocket'],
  ...['structuredClone', 'queueMicrotask', 'setImmediate', 'setTimeout', 'setInterval', 'performance', 'crypto'],
  ...['MessageChannel', 'BroadcastChannel', 'navigator', 'Buffer'],
]

/** Loads modules of the packages by their paths in the repository. */
export function load(paths: readonly string[]): Loading {
  const found = { globals: new Set<string>(), resources: new Set<string>() }
  const put = (into: Set<string>, what: string): void => {
    const file = firstOwnFile()
    if (file) into.add(`${what} in ${file}`)
  }
  const restore = GLOBALS.map((name) => trap(name, () => put(found.globals, name)))
  const hook = createHook({
    init(_id, type, _trigger, resource) {
      if (type !== 'PROMISE' && !('hasRef' in resource)) put(found.resources, type)
    },
  })
  const before = process.eventNames()
  hook.enable()
  for (const path of paths) createRequire(join(root, 'package.json'))(join(root, path))
  hook.disable()
  const listeners = process.eventNames().filter((one) => !before.includes(one))
  for (const undo of restore) undo()
  return { globals: [...found.globals], resources: [...found.resources], listeners: listeners.map(String) }
}

/** Calls `used` whenever the global is read. */
function trap(name: string, used: () => void): () => void {
  const property = Object.getOwnPropertyDescriptor(globalThis, name)
  if (!property) return () => undefined
  const value: unknown = Reflect.get(globalThis, name)
  const get = (): unknown => {
    used()
    return value
  }
  Object.defineProperty(globalThis, name, { configurable: true, get })
  return () => Object.defineProperty(globalThis, name, property)
}

/** Undefined if the module of another package, or of Node, is what runs: the first file on the stack is not ours. */
function firstOwnFile(): string | undefined {
  const frames = new Error().stack?.split('\n').filter((line) => line.includes('(/') || line.includes('at /')) ?? []
  const frame = frames.find((line) => !line.includes('/starts/children/'))
  return frame?.match(/packages\/[\w-]+\/src\/[\w/.-]+/)?.[0]
}
