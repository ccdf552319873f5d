import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { root } from '../repository.ts'
import { pageText } from './blocks.ts'
import { membersOf, peerNames } from './migrating-peers.ts'
import { complaintsOf, writeNestBlocks } from './testing-nest-blocks.ts'

interface Row {
  readonly names: readonly string[]
  readonly answer: string
}

const page = pageText('docs/migrating.md')
const sections = new Map(page.split(/^## /m).map((section) => [section.split('\n')[0], section]))

/** The rows of all tables of a section: the names in the first cell, and their description. */
function rowsOf(section: string): Row[] {
  const tables = [...section.matchAll(/^\|.*\n\|[ :|-]+\n((?:\|.*\n)+)/gm)].map(([, rows]) => rows)
  return tables.flatMap((rows) =>
    rows
      .trim()
      .split('\n')
      .map((line) => {
        const [first, ...rest] = line.split(/(?<!\\)\|/).slice(1, -1)
        return { names: [...first.matchAll(/`(\w+)`/g)].map(([, name]) => name), answer: rest.join('|').trim() }
      }),
  )
}

describe.each(peerNames)('docs/migrating.md, from $library', ({ library, version, names }) => {
  const section = sections.get(`From ${library}`) ?? ''
  const rows = rowsOf(section)
  const told = rows.flatMap((row) => row.names)

  test('describes the installed version', () => {
    expect(section).toContain(`${library} ${version}`)
  })

  test('has a row for every name that the library declares', () => {
    expect(names.length).toBeGreaterThan(5)
    expect(names.filter((name) => !told.includes(name))).toEqual([])
  })

  test('has no row for a name that the library does not declare', () => {
    expect(told.filter((name) => !names.includes(name))).toEqual([])
  })

  test('fills in every row, and gives a reason if there is no counterpart', () => {
    for (const row of rows) {
      expect(row).toEqual({ names: expect.any(Array), answer: expect.stringMatching(/\S/) })
      if (/no counterpart/i.test(row.answer)) expect(row.answer).toMatch(/no counterpart, (because|since) \S/i)
    }
  })

  test('shows the code before and after, and lists what improves and what is missing', () => {
    const titles = [...section.matchAll(/^### (.*)$/gm)].map(([, title]) => title)
    expect(titles).toEqual(['Before', 'After', 'Option by option', 'What improves', 'What is missing'])
  })
})

test('the names of a declaration are its direct members only', () => {
  const text =
    'type A = { a: number; readonly b?: { inner: 1 } | string; c(d: number): void; get e(): 1 }; type F = { f: 1 }'
  expect(membersOf(text, /type A =/)).toEqual(['a', 'b', 'c', 'e'])
  expect(() => membersOf(text, /type B =/)).toThrow('no /type B =/')
})

test('the Nest applications in docs/migrating.md run', async () => {
  const { files } = await writeNestBlocks('docs/migrating.md')
  expect(files).toHaveLength(2)
  const runner = join(root, 'test/docs/run-block.mjs')
  expect(await complaintsOf(['--conditions=@sluice/source', runner, ...files])).toBe('')
}, 240_000)
