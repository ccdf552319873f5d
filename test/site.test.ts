import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { run } from './packaging/command.ts'
import { root } from './repository.ts'

/** Elements without an end. */
const VOID = /^(?:br|hr|img|wbr|path)$/

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
  let pages: string

  beforeAll(async () => {
    pages = join(folder, 'pages')
    const program = `writePages('${pages}', new Map()); console.log('true')`
    expect(await printed('pages.mjs', 'writePages', program)).toBe(true)
  })

  test('has a page for each guide, a home page with figures of the README, and a list for language models', () => {
    const guides = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md') && name !== 'README.md')
    expect(guides.length).toBeGreaterThan(25)
    expect(guides.filter((name) => !readdirSync(pages).includes(name))).toEqual([])
    const home = readFileSync(join(pages, 'index.md'), 'utf8')
    expect(home.match(/^- <b>.+<\/b> .+ \[How it was measured\]\(\.\/[\w-]+\.html(?:#[\w-]+)?\)$/gm)).toHaveLength(5)
    expect(home.match(/^```ts \[.+\]$/gm)).toHaveLength(6)
    expect(readFileSync(join(pages, 'public/llms.txt'), 'utf8')).toContain('- [Keys](keys.html): A key identifies')
  })

  // regression: VitePress read `<version>` in the text of CONTRIBUTING.md as a tag without an end, and wrote no site
  test('ends each tag that is in the text of a page', () => {
    const isPage = (path: string): boolean => path.endsWith('.md')
    const open = readdirSync(pages, { recursive: true, encoding: 'utf8' })
      .filter(isPage)
      .flatMap((path) => {
        const text = readFileSync(join(pages, path), 'utf8').replace(
          /^```[\s\S]*?^ *```|(`+).+?\1|<!--[\s\S]*?-->/gm,
          '',
        )
        return Array.from(text.matchAll(/<([a-z][\w-]*)(?:\s[^<>]*)?>/gi), ([tag, name]) => ({ path, tag, name }))
          .filter(({ tag, name }) => !VOID.test(name) && !tag.endsWith('/>') && !text.includes(`</${name}>`))
          .map(({ tag }) => `${path}: ${tag}`)
      })
    expect(open).toEqual([])
  })

  test('has a page for each code, with an example, the cause and the fix, and keeps its section on the page of all', () => {
    const codes = Array.from(
      readFileSync(join(root, 'docs/errors.md'), 'utf8').matchAll(/^## (\w+)$/gm),
      ([, code]) => code,
    )
    expect(codes.length).toBeGreaterThan(60)
    const errors = readFileSync(join(pages, 'errors.md'), 'utf8')
    for (const code of codes) {
      const text = readFileSync(join(pages, `errors/${code.toLowerCase()}.md`), 'utf8')
      expect({ code, text }).toEqual({
        code,
        text: expect.stringMatching(
          /^---\npageClass: errors\n---\n\n# SLUICE_\w+\n\n(?:An error|A warning)[^\n]+\[@sluice\/[\w-]+\]\(\.\.\/packages\/[\w-]+\.html\)[\s\S]+\n## Example\n\n```text\n[\s\S]+\n## Cause\n\n\S[\s\S]+\n## Fix\n\n\S/,
        ),
      })
      expect(errors).toContain(`\n## ${code}\n\n[Page of this code](./errors/${code.toLowerCase()}.html)\n`)
    }
  })

  test('draws charts of the results, with the error of each figure', () => {
    const benchmarks = readFileSync(join(pages, 'benchmarks.md'), 'utf8')
    const charts = benchmarks.match(/<table class="chart"[\s\S]*?<\/table>/g) ?? []
    expect(charts.length).toBeGreaterThan(10)
    for (const chart of charts) {
      expect(chart).toContain('<tr class="own">')
      expect(chart.match(/<td>[^<]+<svg .*?<\/svg><\/td><td>[^<]+<\/td><\/tr>/g)).toHaveLength(
        chart.split('<th scope="row">').length - 1,
      )
    }
  })

  test('draws the share of the longest bar, cuts longer ones, and requires the columns of a chart', async () => {
    const table = {
      title: 'cost',
      columns: ['name', 'ns', 'error'],
      rows: [
        ['`a`', 10, '1'],
        ['b <c>', '40 / 41', '-'],
        ['d', 900, '2 %'],
      ],
    }
    const chart = (more: object) =>
      `barChart({ table: ${JSON.stringify(table)}, title: 'Cost', figure: { column: 'ns', title: 'ns' }, error: { column: 'error', title: 'off by' }, rows: () => true, isSluice: (name) => name === 'd', ...${JSON.stringify(more)} })`
    const program = `let failed; try { ${chart({ error: { column: 'errors' } })} } catch ({ message }) { failed = message }
      console.log(JSON.stringify({ drawn: ${chart({ until: 80 })}, failed }))`
    const { drawn, failed } = (await printed('charts/bar-chart.mjs', 'barChart', program)) as Record<string, string>
    expect(Array.from(drawn.matchAll(/<rect width="([\d.]+)"/g), ([, width]) => width)).toEqual([
      '12.5',
      '50.0',
      '97.0',
    ])
    expect(drawn).toContain('Bars with a gap are cut.')
    expect(drawn).toContain('<th scope="row"><code>a</code></th>')
    expect(drawn).toContain('<th scope="row">b &#60;c&#62;</th><td>40 / 41<svg')
    expect(drawn).toContain('<tr class="own"><th scope="row">d</th>')
    expect(failed).toBe('bench/results: "cost" has no column "errors"')
  })

  test('shows the version in which each option appeared', async () => {
    const version = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version
    const program = `const of = (releases) => { const since = new Since(releases); return [since.of('koa', 'rateLimit', 'key'), since.of('koa', 'rateLimit', 'window'), since.meaning, since.released()] }
      console.log(JSON.stringify([of({}), of({ '0.0.1': { koa: { rateLimit: 'limit key' } } }), of({ '${version}': { koa: { rateLimit: 'key' } } })]))`
    const [none, earlier, current] = (await printed('reference/since.mjs', 'Since', program)) as unknown[][]
    const unpublished = `"Since" is the version that first had an option; ${version} is not published yet.`
    expect(none).toEqual([version, version, unpublished, { [version]: { koa: { rateLimit: 'key window' } } }])
    expect(earlier.slice(0, 3)).toEqual(['0.0.1', version, unpublished])
    expect(earlier[3]).toEqual({
      '0.0.1': { koa: { rateLimit: 'limit key' } },
      [version]: { koa: { rateLimit: 'window' } },
    })
    expect(current.slice(0, 2)).toEqual([version, 'next'])
  })

  test('ranks names that are not words, and codes, by their own place, and words by guides', async () => {
    const documents = [
      ['/x/skipping.html#skip-requests', 'Skip requests', ['Skipping'], 'skip skipFailed rateLimit deadlineMs'],
      ['/x/reference/koa.html#ratelimit', 'rateLimit()', ['koa'], 'limits requests; skip'],
      ['/x/reference/koa.html#type-ratelimit', 'RateLimit()', ['koa'], 'the decorator'],
      ['/x/reference/koa.html#ratelimit-skipfailed', 'skipFailed', ['koa', 'rateLimit()'], ''],
      ['/x/reference/koa.html#skip', 'skip()', ['koa'], 'skip'],
      ['/x/errors/sluice_bad_key.html', 'SLUICE_BAD_KEY', [], 'a key'],
      ['/x/errors/sluice_denied.html', 'SLUICE_DENIED', [], 'denied'],
      ['/x/keys.html', 'A bad key', [], 'SLUICE_BAD_KEY is denied'],
    ]
    const queries = [
      'skip',
      'rateLimit',
      'ratelimit',
      'skipFailed',
      'SLUICE_BAD_KEY',
      'bad_key',
      'SLUICE_DENIED',
      'denied',
    ]
    const program = `import MiniSearch from 'minisearch'
      const index = new MiniSearch({ fields: ['title', 'titles', 'text'], storeFields: ['title', 'titles'] })
      for (const [id, title, titles, text] of ${JSON.stringify(documents)}) index.add({ id, title, titles, text })
      const first = (query) => index.search(query, search.options.miniSearch.searchOptions)[0].id.slice(3)
      console.log(JSON.stringify(${JSON.stringify(queries)}.map(first)))`
    expect(await printed('search.mjs', 'search', program)).toEqual([
      'skipping.html#skip-requests',
      'reference/koa.html#ratelimit',
      'reference/koa.html#ratelimit',
      'reference/koa.html#ratelimit-skipfailed',
      'errors/sluice_bad_key.html',
      'errors/sluice_bad_key.html',
      'errors/sluice_denied.html',
      'keys.html',
    ])
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
