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

/** One insight and one page for all sites of this process. Without a token, only this machine may open the page. */
export function watchSites(path: string): Watch & { close(): Promise<void> } {
  const insight = createInsight()
  const page = dashboard({ insight, path })
  const close = async () => {
    page.close()
    await insight.close()
  }
  return { observers: [insight], page, path, close }
}
