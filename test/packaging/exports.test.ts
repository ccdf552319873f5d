import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { packages, root } from '../repository.ts'
import { run } from './command.ts'
import { packPackages, type Tarball } from './tarballs.ts'

jest.setTimeout(60_000)

// KB (1,000 bytes) of all that one format loads, compressed: what a bundle of the package costs
const budgetKb: Readonly<Record<string, number>> = {
  '@sluice/keyed-hash': 6,
  '@sluice/limiter-core': 100,
  '@sluice/node-http': 25,
  '@sluice/express': 4,
  '@sluice/koa': 4,
  '@sluice/fastify': 6,
  '@sluice/nest': 10,
  '@sluice/sketches': 90,
  '@sluice/redis': 62,
  '@sluice/testkit': 48,
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-exports-'))
let tarballs: Tarball[] = []

beforeAll(async () => {
  tarballs = await packPackages(folder)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(packages)('the tarball of $name', ({ name, folder: source, manifest }) => {
  const tarball = () => tarballs.find((each) => each.name === name) as Tarball

  test('passes publint in its strict form', async () => {
    await expectToPass('publint/src/cli.js', ['run', '--strict', tarball().path])
  })

  test('has types that agree with its code under every resolution of Node', async () => {
    const cli = '@arethetypeswrong/cli/dist/index.js'
    await expectToPass(cli, [tarball().path, '--profile', 'node16', '--no-definitely-typed', '--no-emoji'])
  })

  test('holds every file that its exports name', () => {
    const named = targetsOf(manifest.exports).map((target) => target.replace('./', ''))
    expect(tarball().files).toEqual(expect.arrayContaining(named))
  })

  test('holds what runs, its source, its README and the licence, and nothing else', () => {
    const { files } = tarball()
    const documents = files.filter((path) => !/^(dist|src)\//.test(path))
    expect(documents.sort()).toEqual(['LICENSE', 'README.md', 'package.json'])
    expect(files.filter((path) => /test|spec|fixture|\.tsbuildinfo$|\.tgz$/.test(path))).toEqual([])
    expect(readFileSync(join(source, 'LICENSE'), 'utf8')).toBe(readFileSync(join(root, 'LICENSE'), 'utf8'))
  })

  test('stays within its size', () => {
    const loaded = tarball().files.filter((path) => /^dist\/esm\/.*\.js$/.test(path))
    const bytes = gzipSync(loaded.map((path) => readFileSync(join(source, path), 'utf8')).join('\n')).length
    process.stdout.write(`${name}: ${(bytes / 1000).toFixed(1)} KB gzipped, budget ${budgetKb[name]} KB\n`)
    expect(bytes).toBeLessThanOrEqual((budgetKb[name] ?? 0) * 1000)
  })
})

async function expectToPass(cli: string, args: readonly string[]): Promise<void> {
  const { code, output } = await run(process.execPath, [join(root, 'node_modules', cli), ...args], folder)
  expect(code === 0 ? '' : output).toBe('')
}

/** The paths at the leaves of an exports map. */
function targetsOf(exports: unknown): string[] {
  return typeof exports === 'string' ? [exports] : Object.values(exports as object).flatMap(targetsOf)
}
