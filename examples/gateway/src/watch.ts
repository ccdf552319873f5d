import { randomBytes } from 'node:crypto'
import type { Observer } from '@sluice/express'
import { createInsight, type Dashboard, dashboard } from '@sluice/insight'

/** The parts that a site needs to appear on the page. */
export interface Watch {
  /** Receives every decision. */
  readonly observers: readonly Observer[]
  /** Shows the observations of all sites. */
  readonly page: Dashboard
  readonly path: string
}

/**
 * One insight and one page for all sites of this process. Clients with the token may open the page and change limits; a
 * page without a token can only be read, and only on this machine.
 */
export function watchSites(path: string): Watch & { readonly token: string; close(): Promise<void> } {
  const insight = createInsight({
    control: { limits: { search: { min: 5, max: 200 }, address: { min: 20, max: 1_000 } } },
  })
  const token = process.env.LIMITS_TOKEN || randomBytes(18).toString('base64url')
  const page = dashboard({ insight, path, token })
  const close = async () => {
    page.close()
    await insight.close()
  }
  return { observers: [insight], page, path, token, close }
}
