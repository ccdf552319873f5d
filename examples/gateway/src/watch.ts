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
  /** In front of the names of the limits of a site. */
  readonly site?: string
}

/**
 * One insight and one page for all sites of this process. Clients with the token may open the page and change limits; a
 * page without a token can only be read, and only on this machine.
 */
export function watchSites(
  path: string,
  sites: readonly string[],
): Watch & { readonly token: string; close(): Promise<void> } {
  const bounds = sites.flatMap((site) => [
    [`${site}-search`, { min: 5, max: 200 }],
    [`${site}-address`, { min: 20, max: 1_000 }],
  ])
  const insight = createInsight({ control: { limits: Object.fromEntries(bounds) } })
  const token = process.env.LIMITS_TOKEN || randomBytes(18).toString('base64url')
  const page = dashboard({ insight, path, token })
  const close = async () => {
    page.close()
    await insight.close()
  }
  return { observers: [insight], page, path, token, close }
}
