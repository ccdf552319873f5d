// Writes the site: npm run docs -- [--serve] [--without-reference] [folder]
import { cpSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from 'vitepress'
import { brokenLinks } from './broken-links.mjs'
import { writePages } from './pages.mjs'
import { BASE, relativeBase } from './relative-base.mjs'
import { root } from './repository.mjs'

const { values, positionals } = parseArgs({
  options: { serve: { type: 'boolean' }, 'without-reference': { type: 'boolean' } },
  allowPositionals: true,
})
const site = join(root, 'site')
const out = resolve(positionals[0] ?? join(site, 'dist'))
const { referencePages } = await import('./reference/reference-pages.mjs')
writePages(join(site, '.artifacts/pages'), values['without-reference'] ? new Map() : referencePages())
// pages are rendered here, too
globalThis.siteBase = BASE
await build(site, { outDir: out })
relativeBase(out)
const broken = brokenLinks(out)
for (const { page, link } of broken) console.error(`${page}: ${link} leads nowhere`)
console.log(`${out}/index.html`)
process.exitCode = broken.length > 0 ? 1 : 0
