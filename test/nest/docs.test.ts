import { describe, expect, test } from '@jest/globals'
import { complaintsOf, writeNestBlocks } from '../docs/testing-nest-blocks.ts'

describe.each(['packages/nest/README.md', 'docs/frameworks/nest.md'])('%s', (page) => {
  test('shows code that type-checks, and applications that serve and end', async () => {
    const { tsconfig, files } = await writeNestBlocks(page)
    expect(files.length).toBeGreaterThan(0)
    expect(await complaintsOf(['node_modules/typescript/bin/tsc', '-p', tsconfig])).toBe('')
    for (const file of files) {
      expect(await complaintsOf(['--conditions=@sluice/source', 'test/docs/run-block.mjs', file])).toBe('')
    }
  }, 120_000)
})
