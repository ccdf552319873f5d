import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { edits } from './algorithm/edits.ts'
import { CopiedRepository } from './copied-repository.ts'
import { Extension } from './extension.ts'
import { listedPaths } from './listed-paths.ts'

jest.setTimeout(300_000)

const extension = new Extension('algorithm', edits)
const EXACT_CONTRACT = 'test/redis/exact/contract.test.ts'

// the files that "Must pass" names, with the fastest member of each folder
const suites = [
  'test/algorithms/contract.test.ts',
  'test/backends/memory-contract.test.ts',
  EXACT_CONTRACT,
  'test/leases/leased-backend.test.ts',
  'test/cluster/contract.test.ts',
  'test/postgres/contract.test.ts',
  'test/postgres/generated-functions.test.ts',
]
const edited = ['test/redis/lua/lua-files.test.ts', 'test/regression/plans/change-of-plan.test.ts']

/** Edited files in which the compiler requires an entry for each algorithm. */
const complete = [
  'packages/limiter-core/src/algorithms/index.ts',
  'packages/testkit/src/contracts/contract-policies.ts',
  'packages/postgres/src/functions/kinds.ts',
  'test/floods/recovery/flood-recovery.ts',
  'test/regression/plans/change-of-plan.test.ts',
]

describe('a sixth algorithm, leaky-meter, added by the list of ARCHITECTURE.md', () => {
  let copy: CopiedRepository

  beforeAll(async () => {
    copy = new CopiedRepository()
    copy.extend(extension)
    await copy.node('tools/build/embed-lua.mjs')
  })
  afterAll(() => copy[Symbol.dispose]())

  const without = async <T>(left: typeof edits, run: () => Promise<T>): Promise<T> => {
    for (const edit of left) copy.undo(edit)
    try {
      return await run()
    } finally {
      for (const edit of left) copy.edit(edit)
    }
  }

  test('needs the listed files, and no others', () => {
    expect(extension.paths).toEqual(listedPaths('Add an algorithm', { name: 'leaky-meter' }))
  })

  test('has no type errors', async () => {
    expect(await copy.filesWithTypeErrors(extension.typed)).toEqual([])
  })

  test('passes the suites of every algorithm', async () => {
    const { code, passed, output } = await copy.jest([...suites, ...edited], 'leaky-meter')
    expect(code === 0 ? '' : output).toBe('')
    expect(passed).toBeGreaterThan(40)
  })

  test('has a type error in each file whose entry is missing', async () => {
    const left = edits.filter(({ path }) => complete.includes(path))
    const errors = await without(left, () => copy.filesWithTypeErrors(extension.typed))
    expect(errors).toEqual(expect.arrayContaining(complete))
  })

  test('fails the contract of backends without its arguments for Redis', async () => {
    const left = edits.filter(({ path, after }) => path.endsWith('policy-args.ts') && after.startsWith('if '))
    expect(left).toHaveLength(1)
    const { code, output } = await without(left, () => copy.jest([EXACT_CONTRACT], 'over another client.*leaky-meter'))
    expect(code).toBe(1)
    expect(output).toContain('✕ decides like the reference models: leaky-meter')
  })
})
