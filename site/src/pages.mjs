import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { homePage } from './home.mjs'
import { llmsText } from './llms-text.mjs'
import { addressOf, allPages, pageOf } from './page-paths.mjs'
import { root, textOf, titleOf } from './repository.mjs'

const REPOSITORY = 'https://github.com/sluicejs/sluice/blob/main'
const FENCE = /^ {0,3}```[\s\S]*?^ {0,3}```$/gm
const LINK = /(!\[[^\]]*\]\(|\]\(|\b(?:href|src|srcset)=")([^)"\s#]+)(#[^)"\s]*)?/g

/**
 * Writes the pages that VitePress renders to a folder: the Markdown files of the repository, the home page, the list
 * of decisions, images and `llms.txt`. `reference`: text of the pages of the reference, by path.
 */
export function writePages(folder, reference) {
  rmSync(folder, { recursive: true, force: true })
  const pages = new Map([...allPages()].map(([path, page]) => [page, linked(textOf(path), path, page)]))
  pages.set('index.md', homePage((text) => linked(text, 'README.md', 'index.md')))
  pages.set('decisions.md', decisions(pages))
  for (const [page, text] of reference) pages.set(page, text)
  pages.set('public/llms.txt', llmsText(pages))
  for (const [page, text] of pages) {
    mkdirSync(dirname(join(folder, page)), { recursive: true })
    writeFileSync(join(folder, page), text)
  }
  cpSync(join(root, 'docs/images'), join(folder, 'public/images'), { recursive: true })
  return pages
}

/** The text of a page with links to pages of the site, and to the repository for all other files. */
export function linked(text, path, page) {
  const parts = text.split(FENCE)
  const fences = text.match(FENCE) ?? []
  return parts.map((part, index) => part.replace(LINK, leadLink) + (fences[index] ?? '')).join('')

  function leadLink(whole, before, target, section = '') {
    if (/^[a-z]+:/.test(target)) return whole
    const file = normalize(join(path, '..', target)).replace(/\/$/, '')
    if (file.startsWith('docs/images/')) {
      const image = file.slice('docs/'.length)
      return /^!|src/.test(before) ? `${before}/${image}` : `${before}./${relative(join(page, '..'), image)}`
    }
    const other = pageOf(file)
    return `${before}${other === undefined ? `${REPOSITORY}/${file}` : addressOf(other, page)}${section}`
  }
}

function decisions(pages) {
  const records = readdirSync(join(root, 'docs/decisions')).filter((name) => name.endsWith('.md'))
  const lines = records.map((name) => `- [${titleOf(pages.get(`decisions/${name}`))}](./decisions/${name})`)
  return `# Design decisions\n\nRecords of what was decided, why, and when to decide again.\n\n${lines.join('\n')}\n`
}
