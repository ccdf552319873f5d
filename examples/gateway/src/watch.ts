import type { Observer } from '@sluice/express'
import { createInsight, type Dashboard, dashboard } from '@sluice/insight'

/** What a site needs to be seen. */
export interface Watch {
  /** Told of every decision. */
  readonly observers: readonly Observer[]
  /** Shows what they saw of all sites. */
  readonly page: Dashboard
  readonly path: string
}

/** One insight and one page for all sites of this process. Without a token only this machine may look. */
export function watchSites(path: string): Watch & { close(): Promise<void> } {
  const insight = createInsight()
  const page = dashboard({ insight, path })
  const close = async () => {
    page.close()
    await insight.close()
  }
  return { observers: [insight], page, path, close }
}
