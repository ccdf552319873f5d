/** Proxies whose behaviour and, if they are published, whose addresses Sluice knows. */
export type ProxyPreset =
  | 'cloudflare'
  | 'fastly'
  | 'fly'
  | 'vercel'
  | 'aws-alb'
  | 'aws-cloudfront'
  | 'gcp-lb'
  | 'azure-front-door'
  | 'azure-app-gateway'
  | 'heroku'
  | 'render'
  | 'railway'
  | 'cloud-run'
  | 'nginx'
  | 'traefik'
  | 'k8s-ingress'

/** A known proxy at other addresses, such as a load balancer whose targets have public IPv6 addresses. */
export interface PresetInRanges {
  readonly preset: ProxyPreset
  /**
   * Addresses and CIDR ranges of the proxy, in place of those of the preset. At least one. `unknown` stands for peers
   * whose address the host does not provide.
   */
  readonly ranges: readonly string[]
}

/** A proxy that Sluice does not know. */
export interface TrustedProxy {
  /**
   * Addresses and CIDR ranges of the proxy, such as `['10.1.0.0/16', '2001:db8::7']`. At least one. `unknown` stands for
   * peers whose address the host does not provide.
   */
  readonly ranges: readonly string[]
  /**
   * Header that the proxy always writes, such as `X-Forwarded-For` or `Forwarded` (RFC 7239). Of several values, the last
   * one counts: proxies append.
   */
  readonly header: string
  /** Number of proxies in these ranges that a request may pass, from 1 to 16. Default: 1. */
  readonly hops?: number | undefined
}

export type ProxyTrust = ProxyPreset | PresetInRanges | TrustedProxy

/** The proxies in front of an application, in any order. */
export type ProxyTrustOption = ProxyTrust | readonly ProxyTrust[]
