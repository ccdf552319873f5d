import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, jest, test } from '@jest/globals'
import { policies } from '@sluice/policies'

const folder = mkdtempSync(join(tmpdir(), 'sluice-missing-list-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function documentOf(...lines: string[]): string {
  return `version: 1\npolicies: [{ name: ${lines[0]}, limit: 1, per: 1m }]\n${lines.slice(1).join('\n')}`
}

test('a document that was refused because its list did not exist applies once the list exists', async () => {
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const file = join(folder, 'policies.yaml')
  writeFileSync(file, documentOf('old'))
  const { policies: loaded } = policies(file)
  const names = (): (string | undefined)[] => loaded.current.map(({ name }) => name)
  writeFileSync(file, documentOf('new', 'lists: { block: { file: blocklist.txt } }'))
  await loaded.reload()
  expect(names()).toEqual(['old'])
  writeFileSync(join(folder, 'blocklist.txt'), '192.0.2.1\n')
  await loaded.reload()
  expect(names()).toEqual(['new', 'blocklist'])
})

test('a later document takes the place of one that waits for its list', async () => {
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const file = join(folder, 'later.yaml')
  writeFileSync(file, documentOf('old'))
  const { policies: loaded } = policies(file)
  writeFileSync(file, documentOf('waiting', 'lists: { block: { file: later.txt } }'))
  await loaded.reload()
  writeFileSync(file, documentOf('last'))
  await loaded.reload()
  writeFileSync(join(folder, 'later.txt'), '192.0.2.1\n')
  await loaded.reload()
  expect(loaded.current.map(({ name }) => name)).toEqual(['last'])
})
