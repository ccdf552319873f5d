interface BuiltIns {
  readonly 'node:async_hooks': typeof import('node:async_hooks')
  readonly 'node:cluster': typeof import('node:cluster')
}

/** The process of Node.js, Bun or Deno; undefined in other runtimes, such as Cloudflare Workers and browsers. */
export const nodeProcess: NodeJS.Process | undefined = globalThis.process

/** Returns a built-in module of Node.js; undefined in runtimes that lack it. */
export function builtIn<Name extends keyof BuiltIns>(name: Name): BuiltIns[Name] | undefined {
  return nodeProcess?.getBuiltinModule?.(name) as BuiltIns[Name] | undefined
}
