import { warnOnce } from '@sluice/limiter-core/http'

/** Says once that an X-Forwarded-For came though no proxy is trusted: all clients of a proxy would share one key. */
export function warnUntrustedProxy(): void {
  warnOnce(
    'SLUICE_UNTRUSTED_PROXY',
    'X-Forwarded-For came, and no proxy is trusted: behind a proxy all clients share its address as their key',
  )
}

/** Says once that any client can choose the address by which it is counted; `setting` is what allows it. */
export function warnTrustsAnyone(setting: string): void {
  warnOnce(
    'SLUICE_TRUSTS_ALL_PROXIES',
    `${setting}: any client can name its own address in X-Forwarded-For, and so its own key`,
  )
}

/** Says once what a `trust proxy` of Express does to keys, for a request with X-Forwarded-For. */
export function warnAboutExpressTrust(trust: unknown): void {
  if (!trust) warnUntrustedProxy()
  if (trust === true) warnTrustsAnyone("'trust proxy' is true")
}

/** What there is to know of an application of Fastify. */
export interface FastifyTrust {
  readonly version: string
}

const known = new WeakMap<object, unknown>()

/** Says once what `trustProxy` of Fastify does to keys, for a request with X-Forwarded-For. */
export function warnAboutFastifyTrust(app: FastifyTrust): void {
  if (!known.has(app)) known.set(app, fastifyTrust(app))
  const trust = known.get(app)
  if (!trust) warnUntrustedProxy()
  else warnAboutSetting(trust, app.version)
}

/** Says once where `trustProxy` of Fastify gives away or joins the keys of clients, whatever requests come. */
export function warnAboutFastifyOption(app: FastifyTrust): void {
  warnAboutSetting(fastifyTrust(app), app.version)
}

function warnAboutSetting(trust: unknown, version: string): void {
  if (trust === true) warnTrustsAnyone('trustProxy is true')
  if (typeof trust !== 'number' || !numbersTrustNobody(version)) return
  warnOnce(
    'SLUICE_TRUSTS_NO_PROXY',
    `trustProxy is ${trust}, and Fastify from 5.12.1 on trusts nobody then: behind a proxy all clients share its address as their key`,
  )
}

/** Fastify shows its options without this one; 4 and 5 keep them all under a symbol of the same name. */
function fastifyTrust(app: FastifyTrust): unknown {
  for (let one: object | null = app; one; one = Object.getPrototypeOf(one)) {
    const key = Object.getOwnPropertySymbols(one).find(({ description }) => description === 'fastify.options')
    if (key) return (one as Record<symbol, { trustProxy?: unknown } | undefined>)[key]?.trustProxy
  }
  return undefined
}

function numbersTrustNobody(version: string): boolean {
  const [major, minor, patch] = version.split('.').map((part) => Number.parseInt(part, 10))
  return major > 5 || (major === 5 && (minor > 12 || (minor === 12 && patch >= 1)))
}
