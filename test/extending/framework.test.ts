import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { CopiedRepository } from './copied-repository.ts'
import { Extension } from './extension.ts'
import { edits } from './framework/edits.ts'
import { listedPaths } from './listed-paths.ts'

jest.setTimeout(300_000)

const extension = new Extension('framework', edits)
const ARCHITECTURE = 'test/architecture.test.ts'
const suites = [
  'test/adapters/router/router.test.ts',
  'test/adapters/exports.test.ts',
  'test/leaks/ordinary-ends.test.ts',
  ARCHITECTURE,
]

describe('a sixth framework, router, added by the lists of ARCHITECTURE.md', () => {
  let copy: CopiedRepository

  beforeAll(() => {
    copy = new CopiedRepository()
    copy.extend(extension)
  })
  afterAll(() => copy[Symbol.dispose]())

  test('needs the listed files, and no others', () => {
    const lists = ['Add a framework adapter', 'Add a package']
    const listed = lists.flatMap((heading) => listedPaths(heading, { name: 'router' }))
    expect(extension.paths).toEqual([...new Set(listed)].sort())
  })

  test('has no type errors', async () => {
    expect(await copy.filesWithTypeErrors(extension.typed)).toEqual([])
  })

  test('passes the contract of adapters, and the tests of every adapter', async () => {
    const { code, passed, output } = await copy.jest(suites, '[rR]outer')
    expect(code === 0 ? '' : output).toBe('')
    expect(passed).toBeGreaterThan(150)
  })

  test('fails the tests of every package without its arrows', async () => {
    const left = edits.filter(({ path, insert }) => path === ARCHITECTURE && insert.includes('@sluice/router'))
    expect(left).toHaveLength(1)
    for (const edit of left) copy.undo(edit)
    const { code, output } = await copy.jest([ARCHITECTURE], '@sluice/router')
    expect(code).toBe(1)
    expect(output).toContain('is in the architecture drawing')
  })
})
