import { existsSync, readdirSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { expect, test } from '@jest/globals'
import { root } from '../repository.ts'
import { pages, pageText } from './blocks.ts'

const DECISIONS = 'docs/decisions'
const LINK = /\]\(([^)\s#]*)(?:#([^)\s]*))?\)/g

/** Addresses of the headings of each page, as GitHub writes them. */
const sections = new Map<string, readonly string[]>(
  [...pages, 'CHANGELOG.md'].map((page) => [
    page,
    [...pageText(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\d\- _]/gu, '')
        .replaceAll(' ', '-'),
    ),
  ]),
)

/** Why a link leads nowhere, or undefined. */
function fault(page: string, path: string, section?: string): string | undefined {
  if (/^\w+:/.test(path)) return undefined
  const target = path === '' ? page : normalize(join(page, '..', path))
  const isMissing = section !== undefined && sections.get(target)?.includes(section) === false
  return existsSync(join(root, target)) && !isMissing ? undefined : `${page}: ${path}${section ? `#${section}` : ''}`
}

test('every link between pages leads to a file and to a section', () => {
  const faults = [...pages, 'CHANGELOG.md'].flatMap((page) => {
    const prose = pageText(page).replace(/^```[\s\S]*?^```$/gm, '')
    return [...prose.matchAll(LINK)].map(([, path, section]) => fault(page, path, section))
  })
  expect(faults.filter((text) => text !== undefined)).toEqual([])
})

test('the list of decision records has each of them once', () => {
  const records = readdirSync(join(root, DECISIONS)).filter((name) => /^\d/.test(name))
  const listed = [...pageText(`${DECISIONS}/README.md`).matchAll(/^- \[(\d+)\]\(((\d+)-[^)]+)\)/gm)]
  expect(listed.map(([, , name]) => name).sort()).toEqual(records.sort())
  expect(listed.filter(([, shown, , number]) => shown !== number)).toEqual([])
})
