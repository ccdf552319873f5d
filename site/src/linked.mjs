import { join, normalize, relative } from 'node:path'
import { addressOf, pageOf } from './page-paths.mjs'

const REPOSITORY = 'https://github.com/sluicejs/sluice/blob/main'
const FENCE = /^ {0,3}```[\s\S]*?^ {0,3}```$/gm
const LINK = /(!\[[^\]]*\]\(|\]\(|\b(?:href|src|srcset)=")([^)"\s#]+)(#[^)"\s]*)?/g

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
