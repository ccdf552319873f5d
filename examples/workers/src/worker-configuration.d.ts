// Types of the bindings of this Worker. `wrangler types` writes them for your configuration.
declare module 'cloudflare:workers' {
  export const env: { readonly LIMITS: import('@sluice/cloudflare').LimitNamespace }
  export function waitUntil(work: Promise<unknown>): void
}
