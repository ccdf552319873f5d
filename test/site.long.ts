import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { type Listening, listening, openBrowser, openPage } from './insight/page/open-page.ts'
import { run } from './packaging/command.ts'
import { root } from './repository.ts'

jest.setTimeout(900_000)

const PLACE = '/any/folder/'
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}
const folder = mkdtempSync(join(tmpdir(), 'sluice-site-'))
let browser: Browser
let served: Listening
let url: string

beforeAll(async () => {
  const { code, output } = await run(process.execPath, [join(root, 'site/src/build.mjs'), folder], root, 890_000)
  // fails on links that lead nowhere
  expect({ code, output }).toMatchObject({ code: 0 })
  served = await listening((req, res) => {
    const { pathname } = new URL(req.url ?? '', 'http://localhost')
    const file = join(folder, pathname.slice(PLACE.length) || 'index.html')
    if (!pathname.startsWith(PLACE) || !existsSync(file)) return res.writeHead(404).end()
    return res.writeHead(200, { 'content-type': TYPES[extname(file)] }).end(readFileSync(file))
  })
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

test('the reference has tables of options with types, defaults and units, and no helpers', () => {
  const textOf = (name: string) =>
    readFileSync(join(folder, `reference/${name}.html`), 'utf8')
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ')
  const express = textOf('express')
  expect(express).toMatch(/ rateLimit\(\) .* window Duration .* deadlineMs Duration 50 ms ms, /)
  expect(express).not.toMatch(/\b(?:allOf|andThen|isPromise)\b/)
  expect(textOf('limiter-core')).toMatch(/ retryAfterMs number required ms /)
})

test.each([
  ['skip', 'recipes.html#skip-health-checks'],
  ['reset', 'recipes.html#reset-a-person'],
  ['trust proxy', 'keys.html'],
  ['redis down', 'redis-outages.html'],
  ['429 body', 'responses.html'],
  ['fastify', 'frameworks/fastify.html'],
  ['per user', 'keys.html'],
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

test.each(['index.html', 'stores.html', 'reference/express.html'])('%s fits a phone of 360 px', async (path) => {
  const { page } = await openPage(browser, url + path, { viewport: { width: 360, height: 740 } })
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
  await page.context().close()
})

test.each(['light', 'dark'] as const)(
  'axe finds no serious problems on home, a guide and reference: %s',
  async (colorScheme) => {
    for (const path of ['', 'keys.html', 'reference/postgres.html']) {
      const { page } = await openPage(browser, url + path, { colorScheme })
      await page.evaluate(axe.source)
      const { violations } = await page.evaluate<axe.AxeResults>('axe.run()')
      const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
      const places = grave.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
      expect({ path, places }).toEqual({ path, places: [] })
      await page.context().close()
    }
  },
)
