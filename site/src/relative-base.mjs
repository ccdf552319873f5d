import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/** The folder for which VitePress builds. `relativeBase` replaces it. */
export const BASE = '/folder-of-the-site/'

const TOKEN = '~folder-of-the-site~'

/**
 * Makes a site that was built for `BASE` work from any folder of any server for files. Links of pages and stylesheets
 * become relative. Scripts read the folder from `siteBase`, which each page computes from its own address.
 */
export function relativeBase(folder) {
  for (const path of readdirSync(folder, { recursive: true })) {
    const edit = EDITS.find(([ending]) => path.endsWith(ending))?.[1]
    if (edit === undefined) continue
    const text = readFileSync(join(folder, path), 'utf8')
    const edited = edit(text, relative(join(path, '..'), '.'))
    const left = edited.indexOf(BASE)
    if (left !== -1) throw new Error(`${path}: cannot make ${edited.slice(left - 40, left + 60)} relative`)
    if (edited !== text) writeFileSync(join(folder, path), edited)
  }
}

const EDITS = [
  ['.html', page],
  ['.css', (text, up) => text.replaceAll(BASE, `${up === '' ? '.' : up}/`)],
  ['.js', script],
]

function page(text, up) {
  const prefix = up === '' ? './' : `${up}/`
  const base = `<script>globalThis.siteBase=new URL('${prefix}',location).pathname</script>`
  return text
    .replace('<head>', `<head>${base}`)
    .replace(`\\"base\\":\\"${BASE}\\"`, '\\"base\\":\\"/\\"')
    .replace(/window\.__VP_SITE_DATA__=[\s\S]*?(?=<\/script>)/, '$&window.__VP_SITE_DATA__.base=siteBase;')
    .replaceAll(`"${BASE}`, `"${prefix}`)
}

/** Texts of a script that begin with the folder become sums of texts. The index of the search is one text with many. */
function script(text) {
  if (/^const \w+='\{/.test(text)) {
    const index = text.replaceAll(BASE, TOKEN)
    return index.replace(
      /export\{(\w+) as default\}/,
      `const found=$1.replaceAll('${TOKEN}',siteBase);export{found as default}`,
    )
  }
  return text.replace(/(["'`])\/folder-of-the-site\//g, (_, quote) => `${quote}${quote}+globalThis.siteBase+${quote}`)
}
