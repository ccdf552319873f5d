import { existsSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { listening, openBrowser, openPage } from '../insight/page/open-page.ts'

const PAGES = [
  { name: 'home', path: '' },
  { name: 'guide', path: 'keys.html' },
  { name: 'wide-table', path: 'stores.html' },
  { name: 'api', path: 'reference/express.html', section: 'ratelimit' },
  { name: 'error', path: 'errors/sluice_clients_collapsed.html' },
  { name: 'charts', path: 'benchmarks.html', section: 'charts' },
  { name: 'search', path: 'keys.html', query: 'deadlineMs' },
  { name: 'search-task', path: 'keys.html', query: 'trust proxy' },
]
const VIEWS = [
  { view: 'light', colorScheme: 'light', width: 1_280, height: 900 },
  { view: 'dark', colorScheme: 'dark', width: 1_280, height: 900 },
  { view: 'phone', colorScheme: 'light', width: 360, height: 740 },
] as const
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}

/** Writes screenshots of the built site in `site` to `folder`, to be looked at: no page of the documentation shows them. */
export async function ofSite(site: string, folder: string): Promise<void> {
  const served = await listening((req, res) => {
    const { pathname } = new URL(req.url ?? '', 'http://localhost')
    const file = join(site, pathname.slice(1) || 'index.html')
    if (!existsSync(file)) return res.writeHead(404).end()
    return res.writeHead(200, { 'content-type': TYPES[extname(file)] }).end(readFileSync(file))
  })
  const browser = await openBrowser()
  for (const { view, colorScheme, width, height } of VIEWS) {
    for (const { name, path, section, query } of PAGES) {
      const address = `${served.url}${path}${section === undefined ? '' : `#${section}`}`
      const { page } = await openPage(browser, address, { colorScheme, viewport: { width, height } })
      if (query !== undefined) {
        await page.locator('.VPNavBarSearch button').click()
        await page.fill('#localsearch-input', query)
        await page.locator('.result').first().waitFor()
      }
      await page.screenshot({ path: join(folder, `site-${name}-${view}.png`) })
      await page.context().close()
    }
  }
  await browser.close()
  await served.stop()
}
