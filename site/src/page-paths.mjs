import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root } from './repository.mjs'

const FIXED = new Map([
  ['README.md', 'index.md'],
  ['docs', 'guides.md'],
  ['docs/README.md', 'guides.md'],
  ['docs/decisions', 'decisions.md'],
  ['docs/decisions/README.md', 'decisions.md'],
  ['examples', 'examples.md'],
  ['examples/README.md', 'examples.md'],
  ['bench/README.md', 'benchmarks.md'],
  ['ARCHITECTURE.md', 'architecture.md'],
  ['CHANGELOG.md', 'changelog.md'],
  ['CONTRIBUTING.md', 'contributing.md'],
  ['SECURITY.md', 'security.md'],
])
const README = /^(packages|examples)\/([^/]+)(?:\/README\.md)?$/
const GUIDE = /^docs\/((?:frameworks\/|internals\/|decisions\/)?[^/]+\.md)$/

/** The page of the site that shows a file or folder of the repository. Undefined if none does. */
export function pageOf(path) {
  const [, folder, name] = README.exec(path) ?? []
  if (name !== undefined && existsSync(join(root, folder, name, 'README.md'))) return `${folder}/${name}.md`
  return FIXED.get(path) ?? GUIDE.exec(path)?.[1]
}

/** The pages of the repository, without the home page and the list of decisions: path in the repository, path on the site. */
export function allPages() {
  const files = [...FIXED.keys()].filter((path) => path.endsWith('.md') && path !== 'README.md')
  for (const folder of ['docs', 'packages', 'examples']) {
    for (const path of readdirSync(join(root, folder), { recursive: true })) files.push(join(folder, path))
  }
  const pages = new Map()
  for (const path of files) {
    const page = path.endsWith('.md') && !path.includes('node_modules') ? pageOf(path) : undefined
    if (page !== undefined && statSync(join(root, path), { throwIfNoEntry: false })?.isFile()) pages.set(path, page)
  }
  return pages
}

/** The address of a page, relative to another page. */
export function addressOf(page, from) {
  const address = relative(join(from, '..'), page).replace(/\.md$/, '.html')
  return address === 'index.html' || address.endsWith('/index.html') ? `${address.slice(0, -10)}./` : `./${address}`
}
