import { join } from 'node:path'
import { dashboard } from '@sluice/insight'
import { listening, openBrowser, openPage } from '../insight/page/open-page.ts'
import { WatchedFleet } from '../insight/page/simulated-fleet.ts'
import { root } from '../repository.ts'

const TOKEN = 'a token for pictures'
const SHOTS = [
  { name: 'overview-light', hash: '#/', colorScheme: 'light', width: 1_440 },
  { name: 'overview-dark', hash: '#/', colorScheme: 'dark', width: 1_440 },
  { name: 'overview-phone', hash: '#/', colorScheme: 'light', width: 390 },
  { name: 'policy-light', hash: '#/policies/api?span=day', colorScheme: 'light', width: 1_440 },
  { name: 'cap-light', hash: '#/caps/reports', colorScheme: 'light', width: 1_440 },
  { name: 'key-light', hash: '#/keys/id/203.0.113.x', colorScheme: 'light', width: 1_440 },
  { name: 'key-phone', hash: '#/keys/id/203.0.113.x', colorScheme: 'dark', width: 390 },
  { name: 'changes-light', hash: '#/changes', colorScheme: 'light', width: 1_440 },
  { name: 'sources-light', hash: '#/sources', colorScheme: 'light', width: 1_440 },
] as const

/** Writes the screenshots of docs/insight.md. */
export async function ofLivePage(folder: string = join(root, 'docs/images')): Promise<void> {
  const insight = new WatchedFleet()
  const page = dashboard({ insight, token: TOKEN })
  const served = await listening(page)
  const browser = await openBrowser()
  for (const { name, hash, colorScheme, width } of SHOTS) {
    const options = { colorScheme, viewport: { width, height: 900 }, timezoneId: 'UTC', locale: 'en-GB' } as const
    const { page: opened } = await openPage(browser, `${served.url}${hash}`, options)
    await opened.fill('input[name=token]', TOKEN)
    await opened.click('button')
    await opened.locator('#connection[data-state=live]').waitFor()
    if (name === 'changes-light') {
      await insight.control({ action: 'mode', policy: 'search', mode: 'shadow', by: 'ann', reason: 'a launch' })
      await insight.control({ action: 'block', key: '198.51.100.x', by: 'bob', reason: 'scraping' })
    }
    await opened.goto(`${served.url}${hash}`)
    await opened.locator('#chart canvas, #view table, #view .plot').first().waitFor()
    await opened.screenshot({ path: join(folder, `insight-${name}.png`), fullPage: true })
  }
  await browser.close()
  page.close()
  await served.stop()
}
