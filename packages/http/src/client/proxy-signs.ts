import type { ProxyPreset } from '../proxy-trust.ts'
import type { ClientSource } from './client-source.ts'

/** A header that a proxy sends, and the proxy that probably sent it: a preset, or the header with the address. */
export interface ProxySign {
  readonly header: string
  readonly preset?: ProxyPreset
  /** Whether the sign counts only at the addresses of the preset, since others send the header, too. */
  readonly isOnlyAtHome?: boolean
}

/** Signs of proxies, the most specific first. A client can send them, too. */
export const SIGNS: readonly ProxySign[] = [
  { header: 'x-railway-edge', preset: 'railway' },
  { header: 'x-railway-request-id', preset: 'railway' },
  { header: 'rndr-id', preset: 'render', isOnlyAtHome: true },
  { header: 'cf-ray', preset: 'cloudflare' },
  { header: 'x-azure-ref', preset: 'azure-front-door' },
  { header: 'x-amz-cf-id', preset: 'aws-cloudfront', isOnlyAtHome: true },
  { header: 'fly-client-ip', preset: 'fly' },
  { header: 'x-vercel-id', preset: 'vercel' },
  { header: 'fastly-ff', preset: 'fastly' },
  { header: 'x-cloud-trace-context', preset: 'gcp-lb', isOnlyAtHome: true },
  { header: 'x-cloud-trace-context', preset: 'cloud-run', isOnlyAtHome: true },
  { header: 'x-appgw-trace-id', preset: 'azure-app-gateway' },
  { header: 'x-amzn-trace-id', preset: 'aws-alb' },
  { header: 'x-forwarded-server', preset: 'traefik' },
  { header: 'x-scheme', preset: 'k8s-ingress' },
  { header: 'x-forwarded-for', preset: 'nginx' },
  { header: 'forwarded' },
  { header: 'x-real-ip' },
]

/** Headers of proxies that say nothing about the address of the client. */
const OTHER_SIGNS = ['via', 'x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-port']

/** Whether a request has a header that proxies send. */
export function looksForwarded(source: ClientSource): boolean {
  return (
    SIGNS.some(({ header }) => source.headerText(header) !== undefined) ||
    OTHER_SIGNS.some((header) => source.headerText(header) !== undefined)
  )
}
