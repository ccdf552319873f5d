import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, jest, test } from '@jest/globals'
import { PolicyLists } from '@sluice/policies'

const folder = mkdtempSync(join(tmpdir(), 'sluice-lists-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
afterEach(() => {
  jest.restoreAllMocks()
})

/** Loads a list in a file. Returns the warnings, without the links to the documentation. */
function warningsOf(...lines: readonly string[]): string[] {
  const warnings: string[] = []
  jest.spyOn(process, 'emitWarning').mockImplementation((warning) => void warnings.push(String(warning)))
  writeFileSync(join(folder, 'list.txt'), lines.join('\n'))
  const lists = new PolicyLists(
    { version: 1, policies: [{ name: 'api', limit: 1, per: '1m' }], lists: { allow: { file: 'list.txt' } } },
    folder,
  )
  lists.loadSync()
  return warnings.map((text) => text.replace(/ \(https:.*/, ''))
}

test('a list without invalid entries is not reported to have 0 of them', () => {
  expect(warningsOf('198.51.100.7', '0.0.0.0/0')).toEqual([
    expect.stringMatching(/^entries of list\.txt are probably mistakes: list\.txt:2: /),
  ])
})

test('invalid entries and probable mistakes are reported separately, with their numbers', () => {
  expect(warningsOf('10.0.0.0/33', '0.0.0.0/0')).toEqual([
    expect.stringMatching(/^1 invalid entry of list\.txt was ignored: list\.txt:1: [^;]*$/),
    expect.stringMatching(/^entries of list\.txt are probably mistakes: list\.txt:2: [^;]*$/),
  ])
  expect(warningsOf(...Array.from({ length: 7 }, () => '10.0.0.0/33'))).toEqual([
    expect.stringMatching(/^7 invalid entries of list\.txt were ignored: ([^;]*; ){4}[^;]*$/),
  ])
})

test('a list without remarks is not reported', () => {
  expect(warningsOf('198.51.100.7')).toEqual([])
})
