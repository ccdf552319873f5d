import { readdirSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { errorCodes } from './errors.mjs'
import { pageOf } from './page-paths.mjs'
import { root, textOf, titleOf } from './repository.mjs'

const LINK = /\]\(([^)#]+\.md)(?:#[^)]*)?\)/g
const INTERNALS = 'Internals'

/** Sections of `docs/README.md` with the pages that each links first: title, page, path in the repository. */
export function sections() {
  const seen = new Set()
  return textOf('docs/README.md')
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const paths = Array.from(section.matchAll(LINK), ([, target]) => normalize(join('docs', target)))
      const pages = paths.filter((path) => !seen.has(path) && seen.add(path))
      return { title: section.split('\n', 1)[0], pages: pages.map((path) => entryOf(path)) }
    })
}

/** The tasks of `docs/README.md` that lead to each page, as words for its search. */
export function tasks() {
  const found = new Map()
  for (const [, task, links] of textOf('docs/README.md').matchAll(/^(?:\| (.+?) \| |- )(.+)$/gm)) {
    for (const [, target] of links.matchAll(LINK)) {
      const page = pageOf(normalize(join('docs', target)))
      found.set(page, [...(found.get(page) ?? []), (task ?? links).replace(/\]\(.*?\)|[[`]/g, '')])
    }
  }
  return found
}

/** Sidebars by the begin of the path: guides in the order of `docs/README.md`, the reference, the codes, and the internals. */
export function sidebars() {
  const all = sections()
  const internals = all.find(({ title }) => title === INTERNALS)
  const guides = all.filter((section) => section !== internals).map(groupOf)
  const internal = [groupOf(internals), { text: 'Guides', link: '/guides' }]
  const reference = readdirSync(join(root, 'packages')).map((name) => ({
    text: `@sluice/${name}`,
    link: `/reference/${name}`,
  }))
  const codes = errorCodes().map(({ code, page }) => ({ text: code.slice('SLUICE_'.length), link: linkOf(page) }))
  return {
    '/errors/': [{ text: 'Errors and warnings', link: '/errors', items: codes }],
    '/architecture': internal,
    '/decisions': internal,
    '/internals/': internal,
    '/reference': [{ text: 'Reference', link: '/reference', items: reference }],
    '/': [...guides, { text: INTERNALS, link: '/architecture' }],
  }
}

function groupOf({ title, pages }) {
  return { text: title, items: pages.map(({ title, page }) => ({ text: title, link: linkOf(page) })) }
}

function linkOf(page) {
  return `/${page.slice(0, -'.md'.length)}`
}

function entryOf(path) {
  return { title: titleOf(textOf(path)), page: pageOf(path), path }
}
