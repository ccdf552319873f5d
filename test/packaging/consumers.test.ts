import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { compile } from '../compiler.ts'
import { packages, readManifest, root } from '../repository.ts'
import { type RedisServer, startRedis } from '../services/redis/redis-server.ts'
import { mustRun, run } from './command.ts'
import { ConsumerProject } from './consumer-project.ts'
import { askConsumer } from './consumer-server.ts'
import { adapters, bundleApp, bundlers, expectOnAllRuntimes, limited, statusesOf } from './formats/bundled-app.ts'

// what `npm install @sluice/express` adds, without source maps; 1 KB is 1,000 bytes
const expressBudget = { kb: 1_075, mapsKb: 1_050, files: 89 }

const scripts = [
  'esm.mjs',
  'commonjs.cjs',
  'koa-esm.mjs',
  'koa-commonjs.cjs',
  'fastify-esm.mjs',
  'fastify-commonjs.cjs',
  'hono-esm.mjs',
  'hono-commonjs.cjs',
  'redis-esm.mjs',
  'redis-commonjs.cjs',
  'sketches-esm.mjs',
  'sketches-commonjs.cjs',
  'counters-esm.mjs',
  'counters-commonjs.cjs',
  'policies-esm.mjs',
  'policies-commonjs.cjs',
]

// the scripts above run the other apps that are type-checked
const typed = ['express', 'nest', 'mcp', 'mcp2']

let project: ConsumerProject
let redis: RedisServer

beforeAll(async () => {
  redis = await startRedis()
  project = await ConsumerProject.install()
  // packs, installs and starts everything, which takes minutes on a busy machine
}, 400_000)

afterAll(async () => {
  project?.[Symbol.dispose]()
  await redis?.stop()
})

test.each(scripts)('%s serves a limited app and exits when its server closes', (script) => expectLimited(script))

test('TypeScript in nodenext accepts the packages from both kinds of module', async () => {
  // the types of Koa, version 1 of MCP's SDK and Nest do not type-check together with other packages of the repository
  for (const config of ['tsconfig.json', 'tsconfig.own-types.json']) {
    expect(await compile(join(project.folder, config))).toBe('')
  }
  for (const script of typed.flatMap((name) => [`built/${name}.mjs`, `built/${name}.cjs`])) await expectLimited(script)
  // two compilations and several processes, on a busy machine
}, 300_000)

// formats/bundles.long.ts has all formats of all bundlers, with each adapter alone, and all platforms of esbuild. Vite
// bundles with rolldown
describe.each(bundlers.filter((bundler) => bundler !== 'rolldown'))('a bundle of %s', (bundler) => {
  const formats = bundler === 'esbuild' ? (['esm', 'cjs'] as const) : (['esm'] as const)
  test.each(formats)('as %s limits the apps of every adapter', async (format) => {
    const { folder } = project
    const bundle = await bundleApp({ folder, bundler, format, names: adapters })
    expect(await statusesOf(bundle, folder, [process.execPath])).toEqual(limited(adapters))
  })
})

test('an ES module bundle of esbuild for browsers runs on Node.js, Deno and Bun', async () => {
  await expectOnAllRuntimes(project.folder, 'browser')
})

test('a CommonJS jest with its default configuration tests a limited Express app', async () => {
  const args = [join(root, 'node_modules/jest/bin/jest.js'), '--rootDir', '.', '--ci', 'app.test.cjs']
  await mustRun(process.execPath, args, project.folder)
})

// includes the subpaths of a package
const entries = packages.flatMap(({ name, manifest }) =>
  Object.keys(manifest.exports)
    .filter((path) => path !== './package.json')
    .map((path) => name + path.slice(1)),
)

test('every entry loads by import and by require, with the same names', async () => {
  const compare = `
    const names = async (entry) => ({
      required: Object.keys(require(entry)).sort(),
      imported: Object.keys(await import(entry)).sort(),
    })
    const entries = ${JSON.stringify(entries)}
    Promise.all(entries.map(names)).then((all) => console.log(JSON.stringify(all)))`
  const all: { readonly required: string[]; readonly imported: string[] }[] = JSON.parse(
    await mustRun(process.execPath, ['-e', compare], project.folder),
  )
  for (const [index, { required, imported }] of all.entries()) {
    expect([entries[index], imported]).not.toEqual([entries[index], []])
    expect([entries[index], required]).toEqual([entries[index], imported])
  }
  expect(all).toHaveLength(entries.length)
})

test('@sluice/redis alone loads no sketches', async () => {
  const show = `require('@sluice/redis'); console.log(Object.keys(require.cache).filter((path) => /sketches/.test(path)))`
  expect(await mustRun(process.execPath, ['-e', show], project.folder)).toBe('[]\n')
})

test('@sluice/sketches alone loads no limits, only the keyed hash', async () => {
  const show = `require('@sluice/sketches'); console.log(JSON.stringify(Object.keys(require.cache)))`
  const loaded: string[] = JSON.parse(await mustRun(process.execPath, ['-e', show], project.folder))
  const paths = loaded.map((path) => relative(join(project.folder, 'node_modules/@sluice'), path))
  expect(paths.filter((path) => !path.startsWith('sketches/'))).toEqual(['limiter-core/dist/cjs/keyed-hash/index.js'])
})

test('@sluice/quotas/budgets loads no quotas, ledger or calendar', async () => {
  const show = `require('@sluice/quotas/budgets'); console.log(JSON.stringify(Object.keys(require.cache)))`
  const loaded: string[] = JSON.parse(await mustRun(process.execPath, ['-e', show], project.folder))
  const folders = loaded.map((path) => relative(join(project.folder, 'node_modules'), path).replace(/\/dist\/.*/, ''))
  expect(new Set(folders)).toEqual(new Set(['@sluice/quotas', '@sluice/limiter-core', '@sluice/sketches']))
  expect(loaded.filter((path) => /sluice\/quotas\//.test(path))).toHaveLength(1)
})

test('the command sluice runs through npx from the tarball', async () => {
  const version = await run('npx', ['--no-install', 'sluice', '--version'], project.folder)
  expect(version).toMatchObject({ code: 0, output: `${readManifest(root).version}\n` })
  // npx takes longer than the command, which it finds here
  const command = (...args: string[]) => run('node_modules/.bin/sluice', args, project.folder)
  writeFileSync(
    join(project.folder, 'policies.yaml'),
    'version: 1\npolicies: [{ name: a, limit: 1, per: 1s, mode: off }]\n',
  )
  const check = await command('check', 'policies.yaml')
  expect(check).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^policies\.yaml:2:48: warning: 'a' never applies/),
  })
  const watch = await command('watch', '--once', 'http://127.0.0.1:2/')
  expect(watch).toMatchObject({ code: 3, stdout: '', output: expect.stringMatching(/^error: .*ECONNREFUSED/) })
})

test('an installation of @sluice/express stays within its size limits', () => {
  const installed = project.installedFiles('@sluice/express')
  const files = installed.filter(({ path }) => !path.endsWith('.map'))
  const kbOf = (list: typeof installed): number => list.reduce((sum, { bytes }) => sum + bytes, 0) / 1000
  const kb = kbOf(files)
  const mapsKb = kbOf(installed) - kb
  process.stdout.write(
    `@sluice/express installed: ${kb.toFixed(0)} KB in ${files.length} files, and ${mapsKb.toFixed(0)} KB of source maps\n`,
  )
  expect(kb).toBeLessThanOrEqual(expressBudget.kb)
  expect(mapsKb).toBeLessThanOrEqual(expressBudget.mapsKb)
  expect(files.length).toBeLessThanOrEqual(expressBudget.files)
})

async function expectLimited(script: string): Promise<void> {
  const { statuses, retryAfter, exitCode, errors } = await askConsumer(
    join(project.folder, script),
    project.folder,
    2,
    {
      REDIS_URL: redis.url,
    },
  )
  expect({ statuses, exitCode, errors }).toEqual({ statuses: [200, 429], exitCode: 0, errors: '' })
  expect(Number(retryAfter)).toBeGreaterThan(0)
}
