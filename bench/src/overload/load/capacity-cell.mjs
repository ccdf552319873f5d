// Finds how many requests per second a server completes when a few callers send the next one as soon as they are
// answered.
import { Agent, get } from 'node:http'
import { childOptions, finishChild } from '../../run/child.mjs'

const warmupPart = 0.25

const { port, callers, ms } = childOptions()
const agent = new Agent({ keepAlive: true, maxSockets: callers })
const startedAt = performance.now()
const countsFrom = startedAt + ms * warmupPart
const endsAt = startedAt + ms
let completed = 0

await Promise.all(Array.from({ length: callers }, callUntilEnd))
finishChild({ perSecond: (completed * 1_000) / (endsAt - countsFrom) })

async function callUntilEnd() {
  while (performance.now() < endsAt) {
    await answered()
    const now = performance.now()
    if (now >= countsFrom && now < endsAt) completed++
  }
}

function answered() {
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path: '/', agent }, (response) =>
      response.resume().once('end', resolve),
    )
    request.once('error', reject)
  })
}
