import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { edits } from './backend/edits.ts'
import { CopiedRepository } from './copied-repository.ts'
import { Extension } from './extension.ts'
import { listedPaths } from './listed-paths.ts'

jest.setTimeout(300_000)

// backend.long.ts runs its tests
const extension = new Extension('backend', edits)

describe('a further backend, mapBackend, added by the list of ARCHITECTURE.md', () => {
  let copy: CopiedRepository

  beforeAll(() => {
    copy = new CopiedRepository()
    copy.extend(extension)
  })
  afterAll(() => copy[Symbol.dispose]())

  test('needs the listed files, and no others', () => {
    expect(extension.paths).toEqual(listedPaths('Add a backend', { package: 'fleet', name: 'map' }))
  })

  test('has no type errors', async () => {
    expect(await copy.filesWithTypeErrors(extension.typed)).toEqual([])
  })
})
