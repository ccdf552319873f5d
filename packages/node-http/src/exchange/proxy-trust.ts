import { warnOnce } from '@sluice/limiter-core/http'

/** Warns once that a request has X-Forwarded-For but no proxy is trusted: clients of a proxy would share one key. */
export function warnUntrustedProxy(): void {
  warnOnce(
    'SLUICE_UNTRUSTED_PROXY',
    'a request has X-Forwarded-For, but no proxy is trusted: all clients behind a proxy share its address as their ' +
      "key; if there is a proxy, name it, such as trust: 'nginx'",
  )
}

/** Warns once that any client can choose the address by which it is counted. `setting` describes what allows it. */
export function warnTrustsAllProxies(setting: string): void {
  warnOnce(
    'SLUICE_TRUSTS_ALL_PROXIES',
    `${setting}: any client can choose its address, and so its key, by X-Forwarded-For; trust only your proxies`,
  )
}

/** Warns once if Express's `trust proxy` makes keys unreliable, for a request with X-Forwarded-For. */
export function warnAboutExpressTrust(trust: unknown): void {
  if (!trust) warnUntrustedProxy()
  if (trust === true) warnTrustsAllProxies("'trust proxy' is true")
}

/** A Fastify application; `trustProxy` is read from a symbol. */
export interface FastifyTrust {
  readonly version: string
}

const known = new WeakMap<object, unknown>()

/** Warns once if Fastify's `trustProxy` makes keys unreliable, for a request with X-Forwarded-For. */
export function warnAboutFastifyTrust(app: FastifyTrust): void {
  if (!known.has(app)) known.set(app, fastifyTrust(app))
  const trust = known.get(app)
  if (!trust) warnUntrustedProxy()
  else warnAboutSetting(trust, app.version)
}

/** Warns once if Fastify's `trustProxy` lets clients choose their key or share one, without looking at a request. */
export function warnAboutFastifyOption(app: FastifyTrust): void {
  warnAboutSetting(fastifyTrust(app), app.version)
}

function warnAboutSetting(trust: unknown, version: string): void {
  if (trust === true) warnTrustsAllProxies('trustProxy is true')
  if (typeof trust !== 'number' || !numberTrustsNoProxy(version)) return
  warnOnce(
    'SLUICE_TRUSTS_NO_PROXY',
    `trustProxy is ${trust}, with which Fastify 5.12.1 and later trust no proxy: all clients behind a proxy share ` +
      'its address as their key; set trustProxy to the addresses of your proxies',
  )
}

/** Fastify exposes its options without `trustProxy`; Fastify 4 and 5 keep the complete options under a symbol. */
function fastifyTrust(app: FastifyTrust): unknown {
  for (let one: object | null = app; one; one = Object.getPrototypeOf(one)) {
    const key = Object.getOwnPropertySymbols(one).find(({ description }) => description === 'fastify.options')
    if (key) return (one as Record<symbol, { trustProxy?: unknown } | undefined>)[key]?.trustProxy
  }
  return undefined
}

function numberTrustsNoProxy(version: string): boolean {
  const [major, minor, patch] = version.split('.').map((part) => Number.parseInt(part, 10))
  return major > 5 || (major === 5 && (minor > 12 || (minor === 12 && patch >= 1)))
}
