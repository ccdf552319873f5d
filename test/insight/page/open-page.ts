import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { chromiumBinary } from '../../services/chromium-binary.ts'

const FLAGS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumBinary(), args: FLAGS })
}

/**
 * A page, with everything that it must not do: errors, violations of its content security policy, requests to other
 * hosts.
 */
export interface OpenedPage {
  readonly page: Page
  readonly faults: string[]
}

export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  const faults: string[] = []
  const host = new URL(url).host
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`))
  page.on('console', (message) => {
    const text = message.text()
    // an unreachable server is not an error of the page
    const isFault = message.type() === 'error' && !/ERR_CONNECTION|Failed to load resource|ERR_INCOMPLETE/.test(text)
    if (isFault || /Content Security Policy/.test(text)) faults.push(`console: ${text}`)
  })
  page.on('request', (request) => {
    const asked = new URL(request.url())
    if (asked.protocol !== 'data:' && asked.host !== host) faults.push(`request: ${request.url()}`)
  })
  await page.goto(url)
  return { page, faults }
}

export interface Listening {
  readonly server: Server
  readonly port: number
  /** URL with the hostname localhost. */
  readonly url: string
  stop(): Promise<void>
}

export async function listening(listener: RequestListener, port = 0): Promise<Listening> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return listeningOf(server)
}

export function listeningOf(server: Server): Listening {
  const { port } = server.address() as AddressInfo
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { server, port, url: `http://localhost:${port}/`, stop }
}
