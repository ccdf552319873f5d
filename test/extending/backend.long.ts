import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { edits } from './backend/edits.ts'
import { CopiedRepository } from './copied-repository.ts'
import { Extension } from './extension.ts'

jest.setTimeout(300_000)

describe('a further backend, mapBackend, added by the list of ARCHITECTURE.md', () => {
  let copy: CopiedRepository

  beforeAll(() => {
    copy = new CopiedRepository()
    copy.extend(new Extension('backend', edits))
  })
  afterAll(() => copy[Symbol.dispose]())

  test('passes the contract of backends, and refuses invalid options as documented', async () => {
    const files = ['test/fleet/map-contract.test.ts', 'test/docs.test.ts']
    const { code, passed, output } = await copy.jest(files, 'mapBackend|a map without keys')
    expect(code === 0 ? '' : output).toBe('')
    expect(passed).toBeGreaterThan(20)
  })

  test('has a type error in its suite without its export', async () => {
    const left = edits.filter(({ path }) => path === 'packages/fleet/src/index.ts')
    for (const edit of left) copy.undo(edit)
    const errors = await copy.filesWithTypeErrors(['test/fleet/map-contract.test.ts'])
    expect(errors).toEqual(['test/fleet/map-contract.test.ts'])
  })
})
