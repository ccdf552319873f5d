import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { root } from '../repository.ts'
import { testsOf } from './blocks.ts'
import { complaintsOf, writeNestBlocks } from './testing-nest-blocks.ts'

const folder = '.artifacts/testing-blocks'

/** Writes each test of docs/testing.md to a file named by its line number, and returns how many there are. */
function writeTests(): number {
  rmSync(join(root, folder), { recursive: true, force: true })
  mkdirSync(join(root, folder), { recursive: true })
  const tests = testsOf('docs/testing.md')
  for (const { line, code } of tests) writeFileSync(join(root, folder, `line-${line}.test.ts`), code)
  return tests.length
}

// test/readme.test.ts checks the types of the tests
test('every test in docs/testing.md passes', async () => {
  expect(writeTests()).toBeGreaterThan(4)
  const jest = ['node_modules/jest/bin/jest.js', '--runInBand', '--roots', folder]
  expect(await complaintsOf([...jest, '--testMatch', `<rootDir>/${folder}/*.test.ts`])).toBe('')
}, 240_000)

test('the test of a Nest application in docs/testing.md passes', async () => {
  const { files, loader } = await writeNestBlocks('docs/testing.md')
  expect(files.length).toBeGreaterThan(0)
  for (const file of files) expect(await complaintsOf(['--conditions=@sluice/source', loader, file])).toBe('')
}, 240_000)
