// Writes the reference site: npm run docs -- [--pages-only] [folder]
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { brokenLinks } from './broken-links.mjs'
import { root, writeSite } from './site.mjs'

// without the reference from source comments, which takes most of the time
const { values, positionals } = parseArgs({ options: { 'pages-only': { type: 'boolean' } }, allowPositionals: true })
const out = resolve(positionals[0] ?? resolve(root, 'site/dist'))
await writeSite(out, { withReference: !values['pages-only'] })
const broken = brokenLinks(out)
for (const { page, link } of broken) console.error(`${page}: ${link} leads nowhere`)
console.log(`${out}/index.html`)
process.exitCode = broken.length > 0 ? 1 : 0
