// Reads the addresses that providers publish for their proxies and writes them to packages/http/src/client. Run it when
// a warning says that they are old: npm run update:proxies
// Azure publishes its list under a new address each week, which is read from the download page.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../root-command.mjs'

const file = join(root, 'packages/http/src/client/proxy-ranges.ts')
const azurePage = 'https://www.microsoft.com/en-us/download/details.aspx?id=56519'
const azureTag = 'AzureFrontDoor.Backend'

/** Each source: its page, and the ranges that it lists. */
const sources = {
  cloudflare: {
    source: 'https://www.cloudflare.com/ips/',
    read: async () => [
      ...linesOf(await text('https://www.cloudflare.com/ips-v4')),
      ...linesOf(await text('https://www.cloudflare.com/ips-v6')),
    ],
  },
  fastly: {
    source: 'https://api.fastly.com/public-ip-list',
    read: async () => {
      const { addresses, ipv6_addresses } = JSON.parse(await text('https://api.fastly.com/public-ip-list'))
      return [...addresses, ...ipv6_addresses]
    },
  },
  'aws-cloudfront': {
    source: 'https://ip-ranges.amazonaws.com/ip-ranges.json',
    read: async () => {
      const { prefixes, ipv6_prefixes } = JSON.parse(await text('https://ip-ranges.amazonaws.com/ip-ranges.json'))
      return [...prefixes, ...ipv6_prefixes]
        .filter(({ service }) => service === 'CLOUDFRONT_ORIGIN_FACING')
        .map(({ ip_prefix, ipv6_prefix }) => ip_prefix ?? ipv6_prefix)
    },
  },
  'azure-front-door': {
    source: azurePage,
    read: async () => {
      const [address] =
        /https:\/\/download\.microsoft\.com\/[^"]+ServiceTags_Public_\d+\.json/.exec(await text(azurePage)) ?? []
      if (address === undefined) throw new Error(`${azurePage} names no file of service tags`)
      const { values } = JSON.parse(await text(address))
      return values.find(({ name }) => name === azureTag).properties.addressPrefixes
    },
  },
}

async function text(address) {
  const response = await fetch(address)
  if (!response.ok) throw new Error(`${address} answered ${response.status}`)
  return response.text()
}

function linesOf(body) {
  return body.split('\n').filter((line) => line.trim() !== '')
}

/** Returns the text of the data file. A range that is not a CIDR, or an empty list, stops the update. */
function dataFile(lists) {
  const entries = Object.entries(lists).map(([name, { read, source, ranges }]) => {
    const bad = ranges.find((range) => !/^[\da-f.:]+\/\d{1,3}$/.test(range))
    if (ranges.length === 0 || bad !== undefined) throw new Error(`${name}: ${bad ?? 'no range'} in ${source}`)
    return `  '${name}': { read: ${read === undefined ? read : `'${read}'`}, source: '${source}', ranges: ${JSON.stringify(ranges)} },`
  })
  return `// Written by \`node tools/release/update-proxy-ranges.mjs\`. Do not edit by hand.

/** Published addresses of a proxy. */
export interface PublishedRanges {
  /** The day on which the list was read, as \`YYYY-MM-DD\`; undefined if it is not known. */
  readonly read: string | undefined
  readonly source: string
  readonly ranges: readonly string[]
}

export type PublishedProxy = ${Object.keys(lists)
    .map((name) => `'${name}'`)
    .join(' | ')}

export const PUBLISHED_RANGES: Readonly<Record<PublishedProxy, PublishedRanges>> = {
${entries.join('\n')}
}
`
}

const read = new Date().toISOString().slice(0, 10)
const lists = {}
for (const [name, { source, read: ranges }] of Object.entries(sources)) {
  lists[name] = { read, source, ranges: await ranges() }
  console.log(`${name}: ${lists[name].ranges.length} ranges`)
}
writeFileSync(file, dataFile(lists))
execFileSync(process.execPath, [join(root, 'node_modules/@biomejs/biome/bin/biome'), 'check', '--write', file])
