import { join } from 'node:path'
import { openBrowser, openPage } from '../insight/page/open-page.ts'
import { servedSite } from './served-site.ts'

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

/** Writes screenshots of the built site in `site` to `folder`, to be looked at: no page of the documentation shows them. */
export async function ofSite(site: string, folder: string): Promise<void> {
  const served = await servedSite(site)
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
