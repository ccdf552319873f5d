import type { RunningApp } from '@sluice/testkit'
import { type AppOptions, nestApp, type Platform } from './nest-app.ts'

/** An application under test, with its responses. */
export interface Site extends RunningApp {
  ask(path: string, init?: RequestInit): Promise<Response>
  statuses(...paths: readonly string[]): Promise<number[]>
}

/** Serves an application for as long as `visit` takes. */
export async function onSite(
  platform: Platform,
  options: AppOptions,
  visit: (site: Site) => Promise<void>,
): Promise<void> {
  const app = await nestApp(platform, options)
  const ask = (path: string, init?: RequestInit): Promise<Response> =>
    fetch(`http://127.0.0.1:${app.port}${path}`, init)
  const statuses = async (...paths: readonly string[]): Promise<number[]> => {
    const all: number[] = []
    for (const path of paths) {
      const response = await ask(path)
      await response.arrayBuffer()
      all.push(response.status)
    }
    return all
  }
  try {
    await visit({ ...app, ask, statuses })
  } finally {
    await app.close()
  }
}
