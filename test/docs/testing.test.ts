import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { compile } from '../compiler.ts'
import { root } from '../repository.ts'
import { pageText } from './blocks.ts'
import { complaintsOf, writeNestBlocks } from './testing-nest-blocks.ts'

const folder = '.artifacts/testing-blocks'
const BLOCK = /^```ts jest\n([\s\S]*?)^```$/gm

/** Writes each test of docs/testing.md to a file named by its line number, and returns how many there are. */
function writeTests(): number {
  const page = pageText('docs/testing.md')
  const blocks = [...page.matchAll(BLOCK)]
  rmSync(join(root, folder), { recursive: true, force: true })
  mkdirSync(join(root, folder), { recursive: true })
  for (const { 1: code, index } of blocks) {
    const line = page.slice(0, index).split('\n').length
    writeFileSync(join(root, folder, `line-${line}.test.ts`), code)
  }
  const compilerOptions = { noUnusedLocals: false }
  const tsconfig = { extends: '../../tsconfig.json', compilerOptions, include: ['*.ts'] }
  writeFileSync(join(root, folder, 'tsconfig.json'), JSON.stringify(tsconfig))
  return blocks.length
}

test('every test in docs/testing.md type-checks and passes', async () => {
  expect(writeTests()).toBeGreaterThan(4)
  expect(await compile(join(folder, 'tsconfig.json'))).toBe('')
  const jest = ['node_modules/jest/bin/jest.js', '--runInBand', '--roots', folder]
  expect(await complaintsOf([...jest, '--testMatch', `<rootDir>/${folder}/*.test.ts`])).toBe('')
}, 240_000)

test('the test of a Nest application in docs/testing.md type-checks and passes', async () => {
  const { tsconfig, files, loader } = await writeNestBlocks('docs/testing.md')
  expect(files.length).toBeGreaterThan(0)
  expect(await compile(tsconfig)).toBe('')
  for (const file of files) expect(await complaintsOf(['--conditions=@sluice/source', loader, file])).toBe('')
}, 240_000)
