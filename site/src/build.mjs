// Writes the site: npm run docs -- [--serve] [folder]. With --release, it only writes site/since.json: options that no
// release has listed belong to the version in package.json.
import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from 'vitepress'
import { brokenLinks } from './broken-links.mjs'
import { writePages } from './pages.mjs'
import { referencePages } from './reference/reference-pages.mjs'
import { Since } from './reference/since.mjs'
import { BASE, relativeBase } from './relative-base.mjs'
import { root } from './repository.mjs'
import { serve } from './serve.mjs'

const PORT = 4173
const { values, positionals } = parseArgs({
  options: { serve: { type: 'boolean' }, release: { type: 'boolean' } },
  allowPositionals: true,
})
const out = resolve(positionals[0] ?? join(root, 'site/dist'))

if (values.release) {
  const since = new Since()
  referencePages(since)
  since.write()
  process.exit()
}

writePages(join(root, 'site/.artifacts/pages'), referencePages())
// pages are rendered in this process, too
globalThis.siteBase = BASE
await build(join(root, 'site'), { outDir: out })
// it cannot know in which folder a missing page would be
rmSync(join(out, '404.html'))
relativeBase(out)

const broken = brokenLinks(out)
for (const { page, link } of broken) console.error(`${page}: ${link} leads nowhere`)
console.log(join(out, 'index.html'))
process.exitCode = broken.length > 0 ? 1 : 0
if (values.serve) {
  serve(out, PORT)
  console.log(`http://localhost:${PORT}/`)
}
