import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { run } from './packaging/command.ts'
import { root } from './repository.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-site-'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs a program that may use a module of the site, and returns the JSON that it prints. */
async function printed(module: string, names: string, program: string): Promise<unknown> {
  const address = pathToFileURL(join(root, 'site/src', module)).href
  const source = `import { ${names} } from '${address}'\n${program}`
  const { output } = await run(process.execPath, ['--input-type=module', '-e', source], root)
  return JSON.parse(output)
}

function written(pages: Readonly<Record<string, string>>): string {
  const site = join(folder, 'written')
  rmSync(site, { recursive: true, force: true })
  for (const [path, text] of Object.entries(pages)) {
    mkdirSync(join(site, path, '..'), { recursive: true })
    writeFileSync(join(site, path), text)
  }
  return site
}

function brokenLinks(pages: Readonly<Record<string, string>>): Promise<unknown> {
  return printed('broken-links.mjs', 'brokenLinks', `console.log(JSON.stringify(brokenLinks('${written(pages)}')))`)
}

describe('the site', () => {
  test('has a page for each guide, a home page with figures of the README, and a list for language models', async () => {
    const pages = join(folder, 'pages')
    const program = `writePages('${pages}', new Map()); console.log('true')`
    expect(await printed('pages.mjs', 'writePages', program)).toBe(true)
    const guides = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md') && name !== 'README.md')
    expect(guides.length).toBeGreaterThan(25)
    expect(guides.filter((name) => !readdirSync(pages).includes(name))).toEqual([])
    const home = readFileSync(join(pages, 'index.md'), 'utf8')
    expect(home.match(/^- <b>.+<\/b> .+ \[How it was measured\]\(\.\/[\w-]+\.html(?:#[\w-]+)?\)$/gm)).toHaveLength(5)
    expect(home.match(/^```ts \[.+\]$/gm)).toHaveLength(6)
    expect(readFileSync(join(pages, 'public/llms.txt'), 'utf8')).toContain('- [Keys](keys.html): A key identifies')
  })

  test('lists each guide in the sidebar', async () => {
    const program = 'console.log(JSON.stringify(sections().flatMap(({ pages }) => pages.map(({ path }) => path))))'
    const listed = await printed('navigation.mjs', 'sections', program)
    const guides = ['docs', 'docs/frameworks', 'docs/internals'].flatMap((place) =>
      readdirSync(join(root, place)).flatMap((name) => (name.endsWith('.md') ? [`${place}/${name}`] : [])),
    )
    expect(guides.filter((path) => path !== 'docs/README.md' && !(listed as string[]).includes(path))).toEqual([])
  })

  test('leads links to pages of the site, and to the repository for other files', async () => {
    const text =
      '[a](../keys.md#x) ![b](../images/c.svg) [d](../../test/e.ts) [f](../../packages/redis/README.md) [g](#h)'
    const program = `console.log(JSON.stringify(linked('${text}', 'docs/frameworks/koa.md', 'frameworks/koa.md')))`
    expect(await printed('linked.mjs', 'linked', program)).toBe(
      '[a](./../keys.html#x) ![b](/images/c.svg) [d](https://github.com/sluicejs/sluice/blob/main/test/e.ts) [f](./../packages/redis.html) [g](#h)',
    )
  })

  test('is checked for links to missing pages, to missing sections, and out of the site', async () => {
    const page =
      '<p id="here"><a class="x" href="b/two.html#there">x</a><a href="#here">x</a><a href="https://x.y">x</a>'
    const two = '<h2 id="there"></h2><a href="../one.html">1</a> <a href="../">index</a>'
    expect(await brokenLinks({ 'one.html': page, 'b/two.html': two, 'index.html': '' })).toEqual([])
    const broken = ['three.html', 'one.html#gone', '../../outside.html', 'b']
    const links = broken.map((link) => `<a href="${link}">x</a>`).join('')
    const found = await brokenLinks({ 'index.html': links, 'one.html': '', 'b/two.html': '' })
    expect(found).toEqual(broken.map((link) => ({ page: 'index.html', link })))
  })

  test('works from any folder: links become relative, and scripts read the folder from the page', async () => {
    const site = written({
      'b/page.html':
        '<head></head><a href="/folder-of-the-site/one.html"><script>window.__VP_SITE_DATA__=f();</script>',
      'assets/a.css': 'a{src:url(/folder-of-the-site/assets/x.woff2)}',
      'assets/a.js': 'f=e=>{return"/folder-of-the-site/"+e}',
    })
    const program = `relativeBase('${site}'); console.log('true')`
    expect(await printed('relative-base.mjs', 'relativeBase', program)).toBe(true)
    const page = readFileSync(join(site, 'b/page.html'), 'utf8')
    expect(page).toContain('<a href="../one.html">')
    expect(page).toContain('__VP_SITE_DATA__=f();window.__VP_SITE_DATA__.base=siteBase;</script>')
    expect(readFileSync(join(site, 'assets/a.css'), 'utf8')).toBe('a{src:url(../assets/x.woff2)}')
    expect(readFileSync(join(site, 'assets/a.js'), 'utf8')).toBe('f=e=>{return""+globalThis.siteBase+""+e}')
  })
})
