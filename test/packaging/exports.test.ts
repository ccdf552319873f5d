import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { packages, root } from '../repository.ts'
import { memoryFolder } from '../services/memory-folder.ts'
import { mustRun } from './command.ts'
import { dryPublish } from './dry-publish.ts'
import { packPackages, type Tarball } from './tarballs.ts'

jest.setTimeout(180_000)

// KB (1,000 bytes) of all code that a process loads, compressed: the cost of bundling the package
const budgetKb: Readonly<Record<string, number>> = {
  '@sluice/limiter-core': 66,
  // four entries, of which most processes load one or two
  '@sluice/http': 46,
  '@sluice/node-http': 12,
  '@sluice/fetch': 5,
  '@sluice/mcp': 5,
  '@sluice/hono': 2,
  '@sluice/express': 1,
  '@sluice/koa': 2,
  '@sluice/fastify': 4,
  '@sluice/nest': 8,
  '@sluice/overload': 18,
  '@sluice/sketches': 39,
  // five entries, of which a process loads one to three
  '@sluice/fleet': 34,
  // four entries, of which a process loads one or two
  '@sluice/counters': 49,
  // two entries, of which most processes load one
  '@sluice/quotas': 32,
  '@sluice/gossip': 21,
  // half of it is the page with its chart
  '@sluice/insight': 79,
  '@sluice/redis': 64,
  '@sluice/postgres': 22,
  '@sluice/cloudflare': 6,
  // six adapters, of which a process loads one
  '@sluice/stores': 10,
  // half of it is the library of conditions
  '@sluice/policies': 53,
  // without its dependencies; each command loads its own part
  '@sluice/cli': 42,
  '@sluice/testkit': 60,
}

const folder = memoryFolder('sluice-exports-')
let tarballs: Tarball[] = []
/** By the path of a tarball; an empty string without problems. */
let typeProblems: Readonly<Record<string, string>> = {}
/** By the path of a tarball. */
let publintProblems: Readonly<Record<string, readonly string[]>> = {}
let published: Awaited<ReturnType<typeof dryPublish>>

beforeAll(async () => {
  tarballs = await packPackages(folder)
  const paths = tarballs.map(({ path }) => path)
  const [ofTypes, ofPublint, dryRun] = await Promise.all([
    problemsIn<string>('type-problems.mjs', paths),
    problemsIn<readonly string[]>('publint-problems.mjs', paths),
    dryPublish(tarballs, folder),
  ])
  typeProblems = ofTypes
  publintProblems = ofPublint
  published = dryRun
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(packages)('the tarball of $name', ({ name, folder: source }) => {
  const tarball = () => tarballs.find((each) => each.name === name) as Tarball
  const manifest = async () =>
    JSON.parse(await mustRun('tar', ['-xOf', tarball().path, 'package/package.json'], folder))

  test('passes publint in its strict form', () => {
    expect(publintProblems[tarball().path]).toEqual([])
  })

  test('has types that match its code under every resolution mode', () => {
    expect(typeProblems[tarball().path]).toBe('')
  })

  test('contains every file that its exports name', async () => {
    const named = targetsOf((await manifest()).exports).map((target) => target.replace('./', ''))
    expect(tarball().files).toEqual(expect.arrayContaining(named))
  })

  test('has repository, engines, keywords and publish settings', async () => {
    const url = 'git+https://github.com/sluicejs/sluice.git'
    const ours = await manifest()
    expect(ours).toMatchObject({
      license: 'MIT',
      repository: { type: 'git', url, directory: expect.stringMatching(/^packages\//) },
      homepage: expect.stringContaining('https://'),
      bugs: { url: expect.stringContaining('https://') },
      engines: { node: '>=20.19' },
      sideEffects: false,
      publishConfig: { access: 'public', provenance: true },
    })
    expect(ours.description.length).toBeGreaterThan(10)
    expect(ours.keywords.length).toBeGreaterThan(0)
    expect(ours.scripts).toBeUndefined()
  })

  test('needs one version of other packages of this repository', async () => {
    const { version, dependencies, peerDependencies } = await manifest()
    const own = Object.entries({ ...dependencies, ...peerDependencies }).filter(([other]) =>
      other.startsWith('@sluice/'),
    )
    expect(own).toEqual(own.map(([other]) => [other, version]))
  })

  test('contains the files that its manifest names, README and licence, and nothing else', () => {
    const { files } = tarball()
    expect(files.filter((path) => /\.map$/.test(path) && !files.includes(path.replace(/\.map$/, '')))).toEqual([])
    const named: readonly string[] = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')).files
    const documents = files.filter((path) => !named.some((one) => path === one || path.startsWith(`${one}/`)))
    expect(documents.sort()).toEqual(['LICENSE', 'README.md', 'package.json'])
    for (const one of named) expect(files.some((path) => path === one || path.startsWith(`${one}/`))).toBe(true)
    expect(files.filter((path) => /test|spec|fixture|\.tsbuildinfo$|\.tgz$/.test(path))).toEqual([])
    expect(readFileSync(join(source, 'LICENSE'), 'utf8')).toBe(readFileSync(join(root, 'LICENSE'), 'utf8'))
  })

  test('would be published as it is', () => {
    const { code, output } = published
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining(`+ ${name}@`) })
  })

  test('stays within its size limit', () => {
    // of @sluice/limiter-core/keyed-hash, a process loads either index.js or web.js
    const loaded = tarball().files.filter((path) => /^dist\/cjs\/(?!.*\/web\.).*\.js$/.test(path))
    const bytes = gzipSync(loaded.map((path) => readFileSync(join(source, path), 'utf8')).join('\n')).length
    process.stdout.write(`${name}: ${(bytes / 1000).toFixed(1)} KB gzipped, budget ${budgetKb[name]} KB\n`)
    expect(bytes).toBeLessThanOrEqual((budgetKb[name] ?? 0) * 1000)
  })
})

/** Returns what a script of this folder prints about the tarballs, each in one process for all of them. */
async function problemsIn<T>(script: string, paths: readonly string[]): Promise<Readonly<Record<string, T>>> {
  return JSON.parse(await mustRun(process.execPath, [join(import.meta.dirname, script), ...paths], folder))
}

/** Returns the paths at the leaves of an exports map. */
function targetsOf(exports: unknown): string[] {
  return typeof exports === 'string' ? [exports] : Object.values(exports as object).flatMap(targetsOf)
}
