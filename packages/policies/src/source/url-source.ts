import { badOption, type Clock, clockOf, type Duration, optionsOf, parseTimerMs } from '@sluice/limiter-core/backend'
import type { PolicySource } from './policy-source.ts'
import { PolledSource } from './polled-source.ts'
import { followRedirects } from './redirects.ts'
import { textOf } from './response-text.ts'
import { Validators } from './validators.ts'

export interface UrlSourceOptions {
  /** Headers of each request, for example `authorization`. They are not sent to other origins after a redirect. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Longest time for a response with its body. Default: 10 s. */
  readonly timeoutMs?: Duration | undefined
  /** Clock for the time-out. Default: the system clock. */
  readonly clock?: Partial<Clock> | undefined
}

const DEFAULT_TIMEOUT_MS = 10_000

/**
 * Creates a source for a document at an `http:` or `https:` URL, of at most 4 MiB. Its `ETag` or `Last-Modified` is sent
 * with the next request, so that an unchanged document is not sent again. The content type is ignored. At most five
 * redirects are followed, none of them from `https:` to `http:`.
 *
 * A user name and a password in the URL are sent as basic authentication. Messages contain neither them nor the query.
 *
 * Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`.
 */
export function urlSource(url: string | URL, options: UrlSourceOptions = {}): PolicySource {
  const { headers = {}, timeoutMs = DEFAULT_TIMEOUT_MS, clock } = optionsOf('urlSource', options, OPTIONS)
  const target = checkedUrl(url)
  return new UrlSource(target, {
    headers: checkedHeaders(headers, target),
    timeoutMs: parseTimerMs(timeoutMs, 'urlSource: timeoutMs'),
    clock: clockOf(clock),
  })
}

const OPTIONS = ['headers', 'timeoutMs', 'clock'] as const

interface UrlSourceSettings {
  readonly headers: Headers
  readonly timeoutMs: number
  readonly clock: Clock
}

class UrlSource extends PolledSource {
  readonly name: string
  readonly #url: URL
  readonly #settings: UrlSourceSettings
  readonly #validators = new Validators()

  constructor(url: URL, settings: UrlSourceSettings) {
    super()
    this.#url = new URL(url)
    this.#url.username = ''
    this.#url.password = ''
    this.name = `${url.origin}${url.pathname}`
    this.#settings = settings
  }

  protected async load(): Promise<string | undefined> {
    const { clock, timeoutMs } = this.#settings
    const controller = new AbortController()
    const late = new Error(`no complete response within ${timeoutMs} ms`)
    const cancel = clock.after(timeoutMs, () => controller.abort(late))
    try {
      return await this.#request(controller.signal)
    } catch (error) {
      throw controller.signal.aborted ? late : error
    } finally {
      cancel()
    }
  }

  async #request(signal: AbortSignal): Promise<string | undefined> {
    const { url, response } = await followRedirects(this.#url, (target) => {
      // another origin must not see the credentials of this one
      const headers = new Headers(target.origin === this.#url.origin ? this.#settings.headers : undefined)
      this.#validators.addTo(headers, target)
      return fetch(target, { headers, signal, redirect: 'manual' })
    })
    if (response.status === 304 && this.#validators.belongTo(url)) return undefined
    if (response.status !== 200) {
      await response.body?.cancel()
      throw new Error(`expected the status 200, received ${response.status}`)
    }
    const text = await textOf(response)
    this.#validators.update(url, response.headers)
    return text
  }
}

function checkedUrl(url: unknown): URL {
  const text = url instanceof URL ? url.href : url
  const parsed = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol)) {
    throw badOption('urlSource: url', url, 'a URL that begins with http: or https:')
  }
  return parsed
}

function checkedHeaders(headers: unknown, { username, password }: URL): Headers {
  try {
    const all = new Headers(headers as Record<string, string>)
    if (username !== '' || password !== '') {
      const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
      all.set('authorization', `Basic ${Buffer.from(login).toString('base64')}`)
    }
    return all
  } catch {
    // the message of the error may contain the value
    throw badOption('urlSource: headers', headers, 'an object of valid header names and values')
  }
}
