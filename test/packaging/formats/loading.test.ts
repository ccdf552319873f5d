import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { packages, root } from '../../repository.ts'
import { mustRun } from '../command.ts'

const entries = packages.flatMap(({ name, manifest }) =>
  Object.keys(manifest.exports)
    .filter((path) => path !== './package.json')
    .map((path) => name + path.slice(1)),
)

test.each(['require', 'import'])('%s of an entry point starts nothing, and computes nothing', async (load) => {
  const script = readFileSync(join(root, 'test/packaging/formats/recorded-loading.cjs'), 'utf8')
  const output = await mustRun(process.execPath, ['-e', script, load, ...entries], root)
  const { loaded, used } = JSON.parse(output)
  expect(loaded).toBe(entries.length)
  expect(used).toEqual([])
})
