// Replays a generated access log in a separate process.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { replayCommand } from '@sluice/cli'
import { childOptions, finishChild } from '../run/child.mjs'
import { seededRandom } from '../run/random.mjs'

const { format, policies, lines } = childOptions()
const startsAt = Date.UTC(2026, 4, 17, 10)
const agent = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_9_1) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.0.0'
const referer = 'https://example.com/presentations/logstash-monitorama-2013/'
const files = {
  1: '  - { name: api, limit: 100, per: 1m }\n',
  3: `  - { name: api, limit: 100, per: 1m }
  - { name: search, match: { route: "GET /search" }, key: [address, route], limit: 10, per: 10s }
  - { name: daily, key: address, unit: units, limit: 20000, per: 1d, algorithm: fixed-window, mode: shadow }
`,
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
try {
  const [log, file] = [join(folder, 'access.log'), join(folder, 'policies.yaml')]
  writeFileSync(file, `version: 1\npolicies:\n${files[policies]}`)
  writeLog(log)
  let printed = ''
  const stdout = { write: (text) => (printed += text) }
  const before = process.cpuUsage()
  const from = performance.now()
  const code = await replayCommand([log], { policies: file, json: true, stdout })
  const ms = performance.now() - from
  const { user, system } = process.cpuUsage(before)
  const { total, log: read } = JSON.parse(printed)
  if (code !== 0 || total.requests !== lines || read.malformed.count > 0 || total.denied === 0) {
    throw new Error(`${format}: ${total.requests} of ${lines} requests, ${total.denied} denied, exit code ${code}`)
  }
  const rssMiB = process.resourceUsage().maxRSS / 1024
  finishChild({ cpuUs: (user + system) / lines, perSecond: (lines * 1_000) / ms, bytes: statSync(log).size, rssMiB })
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Writes requests of 100,000 clients, of which few send many: 1,000 requests a second. */
function writeLog(path) {
  const random = seededRandom(1)
  const line = format === 'json' ? jsonLine : combinedLine
  const texts = []
  for (let index = 0; index < lines; index++) {
    const client = Math.floor(100_000 * random() ** 4)
    const address = `10.${client >> 16}.${(client >> 8) & 255}.${client & 255}`
    texts.push(
      line(startsAt + index, address, random() < 0.1 ? '/search?q=a' : `/teams/${Math.floor(random() * 5_000)}`),
    )
    if (texts.length === 10_000) writeFileSync(path, texts.splice(0).join(''), { flag: 'a' })
  }
  writeFileSync(path, texts.join(''), { flag: 'a' })
  if (format === 'gzip') writeFileSync(path, gzipSync(readFileSync(path)))
}

function combinedLine(ms, address, target) {
  const time = new Date(ms).toISOString()
  return `${address} - - [17/May/2026:${time.slice(11, 19)} +0000] "GET ${target} HTTP/1.1" 200 20302 "${referer}" "${agent}"\n`
}

function jsonLine(ms, address, uri) {
  const values = { ts: ms / 1_000, remote_addr: address, method: 'GET', uri, status: 200, size: 20302, referer, agent }
  return `${JSON.stringify(values)}\n`
}
