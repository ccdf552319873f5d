import { expect, test } from '@jest/globals'
import type { InsightSnapshot } from '@sluice/insight'
import { ask } from '../insight/page/page-request.ts'
import { eventually } from '../services/eventually.ts'
import { endedAfterEach } from '../services/for-tests.ts'
import { GatewayProcess } from './gateway-process.ts'

const started = endedAfterEach<GatewayProcess>(({ child }) => child.kill('SIGKILL'))

async function start(traffic: 'on' | 'off'): Promise<GatewayProcess> {
  const gateway = new GatewayProcess(0, traffic)
  started.push(gateway)
  return gateway.listening()
}

/** Returns what the page of a gateway shows, at the address of one of its sites. */
async function shown({ output, urls }: GatewayProcess, site: string): Promise<InsightSnapshot> {
  const [, token] = /^Token of the page: (.+)$/m.exec(output) ?? []
  const headers = { authorization: `Bearer ${token}` }
  const { text } = await ask(Number(new URL(urls[site] as string).port), '/limits/stream', { headers })
  return JSON.parse(text.split('data: ')[1])
}

const decisions = ({ policies }: InsightSnapshot) => policies.reduce((sum, { total }) => sum + total.allowed, 0)

test('the gateway prints the address of its page first, and shows active limits within a minute', async () => {
  const gateway = await start('on')
  const { urls, child, ended } = gateway
  expect(gateway.output.split('\n')[0]).toBe(`Limits, live: ${urls.Express}/limits`)
  for (const url of Object.values(urls)) {
    const page = await fetch(`${url}/limits`, { headers: { accept: 'text/html' } })
    expect(await page.text()).toContain('name="token"')
  }
  const isAtWork = async () => {
    const { policies, caps } = await shown(gateway, 'Koa')
    const denied = policies.filter(({ total }) => total.denied > 0).map(({ name }) => name)
    // the limits of the three sites are shown apart
    const names = policies.map(({ name }) => name).filter((name) => name.endsWith('-address'))
    expect(names.every((name) => /^(?:express|koa|fastify)-/.test(name))).toBe(true)
    return (
      names.length === 3 && denied.some((name) => name.endsWith('-search')) && caps.some(({ denied: full }) => full > 0)
    )
  }
  await eventually(isAtWork, { what: 'a denied search and a full cap', timeoutMs: 60_000 })
  // no other client spent units of this new client
  const first = await fetch(urls.Express)
  expect(first.headers.get('ratelimit')).toContain('r=99;')
  await first.text()
  child.kill('SIGINT')
  expect(await ended).toEqual([0, null])
  expect(gateway.output).not.toContain('Warning')
})

test('with TRAFFIC=off the new client sends the only requests', async () => {
  const gateway = await start('off')
  const { output, urls } = gateway
  expect(output).toMatch(/^Limits, live: /)
  for (let asked = 0; asked < 3; asked++) await (await fetch(urls.Fastify)).text()
  expect(decisions(await shown(gateway, 'Express'))).toBe(3)
})
