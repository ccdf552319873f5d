import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { withCharts } from './charts/benchmark-charts.mjs'
import { errorPages, withErrorPages } from './errors.mjs'
import { homePage } from './home.mjs'
import { linked } from './linked.mjs'
import { llmsText } from './llms-text.mjs'
import { allPages } from './page-paths.mjs'
import { root, textOf } from './repository.mjs'

/**
 * Writes the pages that VitePress renders to a folder: the Markdown files of the repository, the home page,
 * images and `llms.txt`. `reference`: text of the pages of the reference, by path.
 */
export function writePages(folder, reference) {
  rmSync(folder, { recursive: true, force: true })
  const pages = new Map([...allPages()].map(([path, page]) => [page, linked(textOf(path), path, page)]))
  pages.set(
    'index.md',
    homePage((text) => linked(text, 'README.md', 'index.md')),
  )
  pages.set('benchmarks.md', withCharts(pages.get('benchmarks.md')))
  pages.set('errors.md', withErrorPages(pages.get('errors.md')))
  for (const [page, text] of [...errorPages(), ...reference]) pages.set(page, text)
  pages.set('public/llms.txt', llmsText(pages))
  for (const [page, text] of pages) {
    mkdirSync(dirname(join(folder, page)), { recursive: true })
    writeFileSync(join(folder, page), text)
  }
  cpSync(join(root, 'docs/images'), join(folder, 'public/images'), { recursive: true })
  return pages
}
