import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { type Listening, openBrowser, openPage } from './insight/page/open-page.ts'
import { run } from './packaging/command.ts'
import { root } from './repository.ts'
import { servedSite } from './screenshots/served-site.ts'

jest.setTimeout(900_000)

const PLACE = '/any/folder/'
/** A page of each kind: with code in tabs, wide tables, long names, charts, pictures, long lists. */
const KINDS = [
  ...['', 'guides.html', 'keys.html', 'stores.html', 'frameworks/koa.html', 'choosing-limits.html', 'insight.html'],
  ...['reference.html', 'reference/express.html', 'reference/postgres.html', 'packages.html', 'packages/redis.html'],
  ...['errors.html', 'errors/sluice_clients_collapsed.html', 'benchmarks.html', 'comparison.html', 'examples.html'],
  ...['architecture.html', 'internals/memory.html', 'decisions.html', 'reliability-measurements.html'],
  'changelog.html',
]
const folder = mkdtempSync(join(tmpdir(), 'sluice-site-'))
let browser: Browser
let served: Listening
let url: string

beforeAll(async () => {
  const { code, output } = await run(process.execPath, [join(root, 'site/src/build.mjs'), folder], root, 890_000)
  // fails on links that lead nowhere
  expect({ code, output }).toMatchObject({ code: 0 })
  served = await servedSite(folder, PLACE)
  url = served.url + PLACE.slice(1)
  browser = await openBrowser()
})

afterAll(async () => {
  await browser?.close()
  await served?.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function firstResult(page: Page, query: string): Promise<string | null> {
  await page.fill('#localsearch-input', '')
  await page.locator('.result').first().waitFor({ state: 'detached' })
  await page.fill('#localsearch-input', query)
  return page.locator('.result').first().getAttribute('href')
}

test('the reference has tables of options with defaults, types, units and versions, and no helpers', () => {
  const textOf = (name: string) =>
    readFileSync(join(folder, `reference/${name}.html`), 'utf8')
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ')
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const since = version.replaceAll('.', '\\.')
  const express = textOf('express')
  expect(express).toMatch(
    new RegExp(` rateLimit\\(\\) .* window .* deadlineMs Longest time .* 50 ms Duration ms, .{1,30} ${since} `),
  )
  expect(express).not.toMatch(/\b(?:allOf|andThen|isPromise)\b/)
  expect(textOf('limiter-core')).toMatch(new RegExp(` retryAfterMs [^|]{0,300} required number ms ${since} `))
})

test.each([
  ['skip', 'recipes.html#skip-health-checks'],
  ['reset', 'recipes.html#reset-a-person'],
  ['trust proxy', 'keys.html'],
  ['redis down', 'redis-outages.html'],
  ['429 body', 'responses.html'],
  ['fastify', 'frameworks/fastify.html'],
  ['per user', 'keys.html'],
  ['global limit', 'global-limiter.html'],
  ['local midnight', 'recipes.html#reset-a-daily-limit-at-local-midnight'],
  ['cluster', 'redis.html'],
  ['cloudflare nginx', 'limit-logins.html'],
  ['brute force', 'limit-logins.html'],
  ['per tenant fastify', 'frameworks/fastify.html'],
  ['streaming tokens', 'llm-streams.html'],
  ['csv export', 'quotas.html'],
  ['custom json', 'responses.html'],
])('the search for "%s" finds %s first', async (query, expected) => {
  const { page, faults } = await openPage(browser, `${url}frameworks/koa.html`)
  await page.locator('.VPNavBarSearch button').click()
  await page.locator('#localsearch-input').waitFor()
  const found = await firstResult(page, query)
  expect(found).toContain(`/any/folder/${expected}`)
  await page.locator('.result').first().click()
  await page.waitForURL(`**${found}`)
  await page.locator('.vp-doc h1').waitFor()
  expect(faults).toEqual([])
  await page.context().close()
})

test.each([
  ['rateLimit', /reference\/[\w-]+\.html#ratelimit$/],
  ['redisBackend', /reference\/redis\.html#redisbackend$/],
  ['countOnly', /reference\/[\w-]+\.html#[\w-]+-countonly$/],
  ['deadlineMs', /reference\/[\w-]+\.html#[\w-]+-deadlinems$/],
  ['SLUICE_UNTRUSTED_PROXY', /errors\/sluice_untrusted_proxy\.html/],
  ['BAD_KEY', /errors\/sluice_bad_key\.html/],
])('the search for the name %s finds its place first', async (query, expected) => {
  const { page, faults } = await openPage(browser, `${url}keys.html`)
  await page.locator('.VPNavBarSearch button').click()
  await page.locator('#localsearch-input').waitFor()
  const found = await firstResult(page, query)
  expect(found).toMatch(expected)
  await page.locator('.result').first().click()
  await page.waitForURL(`**${found}`)
  const section = found?.split('#')[1]
  if (section !== undefined) await page.locator(`[id="${section}"]`).waitFor()
  expect(faults).toEqual([])
  await page.context().close()
})

test('the index finds the page of every code first, and the reference of every name that is not a word', async () => {
  const pagesOf = (part: string) => readdirSync(join(folder, part)).filter((name) => name.endsWith('.html'))
  const codes = pagesOf('errors').map((name) => name.slice(0, -'.html'.length))
  const names = pagesOf('reference').flatMap((name) => {
    const text = readFileSync(join(folder, 'reference', name), 'utf8')
    return Array.from(text.matchAll(/ class="first">(\w*[a-z][A-Z]\w*)</g), ([, option]) => option)
  })
  expect(codes.length).toBeGreaterThan(60)
  expect(new Set(names).size).toBeGreaterThan(300)
  const chunks = join(folder, 'assets/chunks')
  const index = readdirSync(chunks).find((name) => name.startsWith('@localSearchIndex')) ?? ''
  const queries = [...codes, ...codes.map((code) => code.replace(/^sluice_(?=.+_)/, '')), ...new Set(names)]
  const program = `import MiniSearch from 'minisearch'
    import { search } from '${pathToFileURL(join(root, 'site/src/search.mjs')).href}'
    globalThis.siteBase = '${PLACE}'
    writeFileSync('${join(folder, 'index.mjs')}', readFileSync('${join(chunks, index)}'))
    const { default: text } = await import('${pathToFileURL(join(folder, 'index.mjs')).href}')
    const { searchOptions } = search.options.miniSearch
    const index = MiniSearch.loadJSON(text, { fields: ['title', 'titles', 'text'], storeFields: ['title', 'titles'], searchOptions })
    const found = ${JSON.stringify(queries)}.map((query) => [query, index.search(query)[0] ?? { id: '', title: '' }])
    console.log(JSON.stringify(found.filter(([query, { id, title }]) =>
      !/\\/(?:errors|reference)\\//.test(id) || ![title, title.slice('SLUICE_'.length)].some((name) => name.replace('()', '').toLowerCase() === query.toLowerCase()))))`
  const source = `import { readFileSync, writeFileSync } from 'node:fs'\n${program}`
  const { output } = await run(process.execPath, ['--input-type=module', '-e', source], root)
  expect(JSON.parse(output)).toEqual([])
})

test.each(KINDS)('"%s" fits a phone of 360 px', async (path) => {
  const { page } = await openPage(browser, url + path, { viewport: { width: 360, height: 740 } })
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
  await page.context().close()
})

test('charts fit a phone of 360 px, with bars of several lengths', async () => {
  const { page } = await openPage(browser, `${url}benchmarks.html`, { viewport: { width: 360, height: 740 } })
  const program = `Array.from(document.querySelectorAll('table.chart'), (table) => {
    const bars = Array.from(table.querySelectorAll('rect'), (bar) => Math.round(bar.getBoundingClientRect().width))
    const texts = Array.from(table.querySelectorAll('th, td'), (cell) => parseFloat(getComputedStyle(cell).fontSize))
    return { right: table.getBoundingClientRect().right, text: Math.min(...texts), bars: new Set(bars).size }
  })`
  const charts = await page.evaluate<{ right: number; text: number; bars: number }[]>(program)
  expect(charts.length).toBeGreaterThan(10)
  expect(charts.filter(({ right, text, bars }) => right > 360 || text < 12 || bars < 3)).toEqual([])
  await page.context().close()
})

test.each(KINDS)('axe finds no serious problems on "%s", light and dark', async (path) => {
  const { page } = await openPage(browser, url + path, { colorScheme: 'light' })
  await page.evaluate(axe.source)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.locator(colorScheme === 'dark' ? 'html.dark' : 'html:not(.dark)').waitFor({ state: 'attached' })
    const { violations } = await page.evaluate<axe.AxeResults>('axe.run()')
    const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    const places = grave.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' ')}`)
    expect({ colorScheme, places }).toEqual({ colorScheme, places: [] })
  }
  await page.context().close()
})
