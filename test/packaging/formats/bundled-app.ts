import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from '@jest/globals'
import { root } from '../../repository.ts'
import { runtimeBinary } from '../../runtimes/runtime-binary.ts'
import { mustRun } from '../command.ts'

export const bundlers = ['esbuild', 'rollup', 'rolldown', 'vite', 'webpack', 'bun'] as const
export const adapters = ['express', 'koa', 'fastify', 'node-http', 'hono', 'fetch', 'nest'] as const
/** Statuses of the first and the second request, by adapter. */
export type Statuses = Readonly<Record<string, readonly number[]>>

export interface BundledApp {
  /** Folder of the `ConsumerProject`. */
  readonly folder: string
  readonly bundler: (typeof bundlers)[number]
  readonly format: 'esm' | 'cjs'
  /** Adapters whose apps are one bundle. */
  readonly names: readonly string[]
  /** Platform of esbuild. Default: node. */
  readonly platform?: 'node' | 'neutral' | 'browser'
}

let bundles = 0

/** Bundles apps of a consumer's project. Returns the path of the bundle. */
export async function bundleApp({ folder, bundler, format, names, platform = 'node' }: BundledApp): Promise<string> {
  const name = `${bundler}-${format}-${++bundles}`
  const entry = join(folder, 'bundled', `${name}-entry.mjs`)
  const output = join(folder, 'bundled', `${name}.${format === 'esm' ? 'mjs' : 'cjs'}`)
  const lines = names.map((one, index) => `import { statuses as app${index} } from './${one}.mjs'\n`)
  const apps = names.map((one, index) => `'${one}': app${index}`)
  writeFileSync(entry, `${lines.join('')}import { printStatuses } from './asked.mjs'\nprintStatuses({ ${apps} })\n`)
  const script = join(root, 'test/packaging/formats/bundle-app.mjs')
  const flag = bundler === 'bun' ? runtimeBinary('bun') : platform
  await mustRun(process.execPath, [script, bundler, format, entry, output, flag], folder)
  return output
}

/** Starts a bundle, and returns what it prints. */
export async function statusesOf(bundle: string, folder: string, command: readonly string[]): Promise<Statuses> {
  const [binary, ...args] = command
  const output = await mustRun(binary, [...args, bundle], folder)
  return JSON.parse(output.trim().split('\n').at(-1) as string)
}

/** The statuses of apps whose limit of one request holds. */
export function limited(names: readonly string[]): Statuses {
  return Object.fromEntries(names.map((name) => [name, [200, 429]]))
}

/** Expects a bundle of esbuild for a platform to limit its apps on Node.js, Deno and Bun. */
export async function expectOnAllRuntimes(
  folder: string,
  platform: NonNullable<BundledApp['platform']>,
): Promise<void> {
  const names = ['hono', 'fetch']
  const bundle = await bundleApp({ folder, bundler: 'esbuild', format: 'esm', names, platform })
  const deno = [runtimeBinary('deno'), 'run', '--allow-all', '--no-config', '--no-lock']
  for (const command of [[process.execPath], deno, [runtimeBinary('bun')]]) {
    expect(await statusesOf(bundle, folder, command)).toEqual(limited(names))
  }
}
