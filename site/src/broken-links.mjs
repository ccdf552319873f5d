import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

const LINK = /<a\b[^>]*?\shref="([^"]*)"/g
const ANCHOR = /\s(?:id|name)="([^"]+)"/g

/** Returns the links between pages of a site whose page or section does not exist, and links that leave the folder. */
export function brokenLinks(folder) {
  const pages = readdirSync(folder, { recursive: true }).filter((path) => path.endsWith('.html'))
  const texts = new Map(pages.map((page) => [join(folder, page), readFileSync(join(folder, page), 'utf8')]))
  const anchors = new Map([...texts].map(([page, text]) => [page, new Set(namesIn(text, ANCHOR))]))
  return [...texts].flatMap(([page, text]) =>
    [...new Set(namesIn(text, LINK))]
      .filter((link) => !/^(?:https?|mailto):/.test(link) && !leads(page, link, { folder, anchors }))
      .map((link) => ({ page: relative(folder, page), link })),
  )
}

function leads(page, link, { folder, anchors }) {
  const [path, section = ''] = decodeURIComponent(link).split('#')
  const named = path === '' ? page : resolve(dirname(page), path)
  const target = named === folder ? join(folder, 'index.html') : named
  if (relative(folder, target).startsWith('..') || !existsSync(target) || statSync(target).isDirectory()) return false
  const names = anchors.get(target)
  return section === '' || names === undefined || names.has(section)
}

function namesIn(text, pattern) {
  return Array.from(text.matchAll(pattern), ([, name]) => name.replaceAll('&amp;', '&'))
}
