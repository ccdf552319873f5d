import { collapsedClients, recordCollapsedClients, warn } from '@sluice/limiter-core/http'
import { CollapseDetector } from './collapse-detector.ts'
import { isPrivate } from './private-addresses.ts'

/** What a proxy lacks that names no client, for presets with a usual reason. */
const LACKS: Readonly<Record<string, string>> = {
  cloudflare: "turn off its Managed Transform 'Remove visitor IP headers'",
  'aws-alb': "set routing.http.xff_header_processing.mode to 'append'",
  nginx: 'add `proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;`',
  proxy: 'make the proxy write this header',
}

/** The detector of this process, which warns. */
export const collapseDetector: CollapseDetector = new CollapseDetector({
  collapsed(found) {
    const known = collapsedClients()
    // clients of the internet can cause a report about their own address, but none about an address of the application
    if (known === undefined || !isPrivate(known.address) || isPrivate(found.address)) recordCollapsedClients(found)
    const { address, reason, advice } = found
    warn(
      'SLUICE_CLIENTS_COLLAPSED',
      `many clients are counted as one: the address ${address} is counted, and ${reason}; ${advice}`,
    )
  },
  unproven({ address, proxy, header }) {
    const lacks = LACKS[proxy] ?? 'configure the proxy to send it'
    warn(
      'SLUICE_PROXY_NAMES_NO_CLIENT',
      `${address} is a trusted proxy (${proxy}), but its header ${header} names no client, so that all its clients are ` +
        `counted as one: ${lacks}; if the address is a gateway that translates addresses, as in Docker and Kubernetes, ` +
        'keep the addresses of clients there; if no proxy sent the requests, nothing is wrong',
    )
  },
})
