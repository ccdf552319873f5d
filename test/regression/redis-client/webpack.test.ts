import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import webpack, { type Stats } from 'webpack'
import { mustRun } from '../../packaging/command.ts'
import { root } from '../../repository.ts'

const built = join(root, 'packages/redis/dist/esm/index.js')

/** Bundles a program that creates a client. Returns the warnings and errors of webpack. */
function bundle(folder: string, format: 'esm' | 'cjs'): Promise<unknown> {
  const entry = join(folder, 'entry.mjs')
  writeFileSync(entry, `import { createRedis } from '${built}'\ncreateRedis('redis://a', { lazyConnect: true })\n`)
  const library = { type: format === 'esm' ? 'module' : 'commonjs2' }
  const output = { path: folder, filename: format === 'esm' ? 'bundle.mjs' : 'bundle.cjs', library }
  const compiler = webpack({
    ...{ mode: 'none', target: 'node20', entry },
    ...(format === 'esm'
      ? { output: { ...output, module: true, chunkFormat: 'module' }, experiments: { outputModule: true } }
      : { output }),
  })
  const found = ({ compilation: { warnings, errors } }: Stats): string[] => [...warnings, ...errors].map(String)
  return new Promise((resolve, reject) =>
    compiler.run((error, stats) => (error || !stats ? reject(error) : resolve(found(stats)))),
  )
}

// webpack warned that it could not parse createRequire, and called undefined in its place
test.each(['esm', 'cjs'] as const)('a bundle of webpack as %s loads ioredis, without warnings', async (format) => {
  const folder = join(root, '.artifacts/webpack') // below node_modules with ioredis
  mkdirSync(folder, { recursive: true })
  expect(await bundle(folder, format)).toEqual([])
  const file = join(folder, format === 'esm' ? 'bundle.mjs' : 'bundle.cjs')
  expect(await mustRun(process.execPath, [file], root)).toBe('')
})
