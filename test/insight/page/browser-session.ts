import { afterAll, afterEach, beforeAll } from '@jest/globals'
import { type DashboardOptions, dashboard } from '@sluice/insight'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { type Listening, listening, type OpenedPage, openBrowser, openPage } from './open-page.ts'

export const SOON = { timeout: 15_000 }

/** One browser for all tests of a file. Everything that a test opened is closed after the test. */
export class BrowserSession {
  readonly closing: (() => Promise<unknown>)[] = []
  #browser: Browser | undefined

  constructor() {
    beforeAll(async () => {
      this.#browser = await openBrowser()
    })
    afterAll(() => this.browser.close())
    afterEach(async () => {
      for (const close of this.closing.splice(0)) await close()
    })
  }

  get browser(): Browser {
    return this.#browser as Browser
  }

  /** Serves the page of an insight, with four updates per second. */
  async serve(
    insight: DashboardOptions['insight'],
    options: { token?: string } = {},
    port?: number,
  ): Promise<Listening & { end(): Promise<void> }> {
    const page = dashboard({ insight, updateMs: 250, ...options })
    const served = await listening(page, port)
    let isEnded = false
    const end = async () => {
      if (isEnded) return
      isEnded = true
      page.close()
      await served.stop()
    }
    this.closing.push(end)
    return { ...served, end }
  }

  async open(url: string, options: BrowserContextOptions = {}): Promise<OpenedPage> {
    const opened = await openPage(this.browser, url, options)
    this.closing.push(() => opened.page.context().close())
    return opened
  }

  /** Opens the page of a fleet, and waits until it shows data. */
  async shown(fleet: DashboardOptions['insight'], options: BrowserContextOptions = {}, hash = ''): Promise<OpenedPage> {
    const { url } = await this.serve(fleet)
    const opened = await this.open(`${url}${hash}`, options)
    await opened.page.locator('#view h2').first().waitFor(SOON)
    return opened
  }
}

export async function textOf(page: Page, selector: string): Promise<string> {
  return (await page.locator(selector).textContent()) ?? ''
}

export async function until(page: Page, selector: string, text: string): Promise<void> {
  await page.locator(selector, { hasText: text }).first().waitFor(SOON)
}

export function go(page: Page, hash: string): Promise<unknown> {
  return page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
}
