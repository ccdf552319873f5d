import { describe, expect, test } from '@jest/globals'
import { createInsight } from '@sluice/insight'
import { createLimiter } from '@sluice/limiter-core'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { freePort } from '../../services/free-port.ts'
import { BrowserSession, go, SOON, textOf, until } from './browser-session.ts'
import { WatchedFleet } from './simulated-fleet.ts'

const token = 'a-token-of-enough-characters'

const session = new BrowserSession()
const { closing } = session

const busyCaps = new WatchedFleet().snapshot().caps.slice(1)

describe('the first screen', () => {
  test('shows a summary and the last hour, and both follow the load', async () => {
    const fleet = new WatchedFleet()
    const { page, faults } = await session.shown(fleet)
    expect(await textOf(page, '#summary p:first-child')).toBe('Healthy: 412 decisions/s, 1.2\u00a0% denied')
    expect(await textOf(page, '#scope')).toBe('Showing 3 processes.')
    const headings = await page.locator('h2').allTextContents()
    expect(headings).toEqual([
      ...['Decision rate, last hour', 'Closest to the limit', 'In-flight requests'],
      ...['Banned keys', 'Most denied keys', 'Most allowed keys'],
      ...['Slowest routes', 'Backends', 'Processes'],
    ])
    const picture = () =>
      page.locator('#chart canvas').evaluate((canvas) => (canvas as unknown as { toDataURL(): string }).toDataURL())
    const before = await picture()
    fleet.extra = 60_000
    await until(page, '#figures', '60,412 decisions/s')
    await page.waitForFunction(
      `document.querySelector('canvas')?.toDataURL() !== ${JSON.stringify(before)}`,
      undefined,
      SOON,
    )
    expect(await page.locator('#chart').getAttribute('aria-label')).toContain('Allowed 60,399/s')
    expect(faults).toEqual([])
  })

  test('shows a real limiter under load', async () => {
    const insight = createInsight({ privacy: 'full' })
    const limiter = createLimiter({ policies: [{ name: 'api', limit: 20, window: '1m' }], observers: [insight] })
    closing.push(
      async () => limiter.close(),
      () => insight.close(),
    )
    const { page, faults } = await session.shown(insight)
    expect(await textOf(page, '#verdict')).toBe('Idle')
    for (let request = 0; request < 30; request++) limiter.take('acme')
    await until(page, '#verdict', 'Policy \u2068api\u2069 denies many requests')
    await until(page, '#view', 'acme')
    await until(page, '#scope', 'Showing this process only.')
    expect(faults).toEqual([])
  })

  test.each([
    [
      'a backend',
      { backends: [{ name: 'redis', state: 'open', sinceMs: 12_000, lastError: 'ECONNREFUSED' }] },
      'bad',
      'Redis is not responding (for 12\u00a0s)',
    ],
    ['nothing', { policies: [], ratePerSecond: { now: 0, lastHour: 0 }, caps: [] }, 'idle', 'Idle: no decisions'],
    [
      'nothing, and caps in use',
      { policies: [], ratePerSecond: { now: 0, lastHour: 0 }, caps: busyCaps },
      'good',
      'Healthy: caps admit 12/s',
    ],
    [
      'a cap',
      { caps: [{ ...new WatchedFleet().snapshot().caps[0], held: 20 }] },
      'warning',
      'Cap reports is full: 20 of 20 in flight',
    ],
    [
      'denials of a cap',
      {
        caps: [
          {
            ...new WatchedFleet().snapshot().caps[0],
            byPriority: [{ priority: 'low', admitted: 9, denied: 9, perSecond: { admitted: 3, denied: 1 } }],
          },
        ],
      },
      'warning',
      'Cap reports denies many requests: 25\u00a0% of requests, 1/s',
    ],
    [
      'a policy that sheds',
      {
        sheds: [
          {
            ...{ policy: 'api', shadow: 0, pressure: 0.8, signal: 'eventLoopDelay' },
            byPriority: [{ priority: 'low', shed: 40, perSecond: 12 }],
          },
        ],
      },
      'warning',
      'Policy api sheds requests: 12/s, pressure 80\u00a0% by eventLoopDelay',
    ],
  ] as const)('shows the problem: %s', async (_, changes, state, text) => {
    const { page, faults } = await session.shown(new WatchedFleet(changes))
    expect((await textOf(page, '#summary p:first-child')).replace(/[\u2066-\u2069]/g, '')).toContain(text)
    expect(await page.locator('#summary').getAttribute('data-state')).toBe(state)
    expect(faults).toEqual([])
  })
})

describe('the address of the page', () => {
  test('reflects the view, and links and the back button work', async () => {
    const { page, faults } = await session.shown(new WatchedFleet())
    await page.locator('main a', { hasText: 'search' }).first().click()
    await until(page, 'h2', 'Policy search')
    expect(page.url()).toMatch(/#\/policies\/search$/)
    expect(await textOf(page, '#view')).toContain(
      'Limit: 30 units per second for each key. Mode: shadow (no request is denied).',
    )
    expect(await textOf(page, '#view')).toContain('it would have denied 9,120 more')
    for (const [link, heading] of [
      ['Caps', 'All caps'],
      ['Processes', 'All processes'],
      ['Events', 'Events'],
      ['Policies', 'All policies'],
    ]) {
      await page.locator('nav a', { hasText: link }).click()
      await until(page, 'h2', heading)
      expect(await textOf(page, 'nav [aria-current]')).toBe(link)
    }
    await page.goBack()
    await until(page, 'h2', 'Events')
    await page.reload()
    await until(page, 'h2', 'Events')
    await page.goto(`${page.url().split('#')[0]}#/policies/gone`)
    await until(page, '.empty', 'No process reports a policy with this name.')
    expect(faults).toEqual([])
  })

  test('keeps focus and open details while numbers change', async () => {
    const fleet = new WatchedFleet()
    const { page } = await session.shown(fleet)
    await page.locator('summary').click()
    await page.locator('main a').first().focus()
    fleet.extra = 5
    await until(page, '#figures', '417')
    expect(await page.evaluate('document.activeElement?.tagName')).toBe('A')
    expect(await page.locator('details table').isVisible()).toBe(true)
  })
})

describe.each([
  ['light', 390],
  ['dark', 1_440],
] as const)('in %s', (colorScheme, width) => {
  test(`the page fits into ${width} px and is accessible`, async () => {
    const { page, faults } = await session.shown(new WatchedFleet(), { colorScheme, viewport: { width, height: 900 } })
    await page.evaluate(axe.source)
    for (const hash of ['#/', '#/policies/api', '#/policies', '#/sources', '#/processes', '#/events']) {
      await go(page, hash)
      await page.waitForFunction(
        `document.querySelector('nav [aria-current]')?.getAttribute('href') === '${hash.replace('/api', '')}'`,
      )
      const [inner, outer] = await page.evaluate<number[]>('[document.documentElement.scrollWidth, innerWidth]')
      expect({ hash, inner }).toEqual({ hash, inner: outer })
      expect({ hash, found: await violations(page) }).toEqual({ hash, found: [] })
    }
    const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor')
    expect(ground).toBe(colorScheme === 'light' ? 'rgb(244, 245, 247)' : 'rgb(15, 19, 23)')
    expect(faults).toEqual([])
  })
})

async function violations(page: Page): Promise<string[]> {
  const results = await page.evaluate<AxeResults>('axe.run()')
  const grave = results.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  return grave.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

interface AxeResults {
  readonly violations: { id: string; impact: string; nodes: { html: string }[] }[]
}

test('foreign names and keys are displayed as text', async () => {
  const hostile = [
    '<script>document.title="x"</script><img src=x onerror=alert(1)>',
    '\u202egnp.exe\u200f"\'>',
    'm'.repeat(2_000_000),
    '\ud800lone\udfff',
    '{message}',
  ]
  const topDenied = hostile.map((key) => ({ id: key, key, count: 1, error: 0 }))
  const [policy, ...others] = new WatchedFleet().snapshot().policies
  const bad = hostile.map((name) => ({ ...policy, name, topDenied, nearest: { key: name, usedShare: 1 } }))
  const { page, faults } = await session.shown(new WatchedFleet({ policies: [...bad, ...others] }), {
    viewport: { width: 390, height: 800 },
  })
  expect(await page.locator('main img, main script').count()).toBe(0)
  expect(await textOf(page, '#view')).toContain('<script>document.title="x"</script>')
  expect(await page.evaluate(`getComputedStyle(document.querySelector('.foreign')).unicodeBidi`)).toBe('isolate')
  expect(await page.title()).toBe('Limits')
  const names = page.locator('#view section', { hasText: 'Closest to the limit' }).locator('a')
  expect(await names.count()).toBe(hostile.length + others.length)
  for (const link of await names.all()) {
    await go(page, (await link.getAttribute('href')) ?? '')
    await until(page, 'h2', 'Policy')
    expect(await page.locator('.empty', { hasText: 'No process reports a policy' }).count()).toBe(0)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await go(page, '#/')
    await until(page, 'h2', 'In-flight requests')
  }
  expect(faults).toEqual([])
})

describe('a lost connection', () => {
  test('is shown, marks the data as old, and is restored after a restart', async () => {
    const port = await freePort()
    const first = await session.serve(new WatchedFleet(), {}, port)
    const { page, faults } = await session.open(first.url)
    await until(page, '#connection', 'Live')
    await first.end()
    await until(page, '#connection', 'Disconnected, reconnecting, last update')
    expect(await page.locator('body').getAttribute('class')).toBe('old')
    await session.serve(new WatchedFleet({ isWholeFleet: false }), {}, port)
    await until(page, '#connection', 'Live')
    await until(page, '#scope', 'Showing this process only.')
    expect(await page.locator('body').getAttribute('class')).toBe('')
    expect(faults).toEqual([])
  })

  test('leads to the login if the server now has a token', async () => {
    const port = await freePort()
    const first = await session.serve(new WatchedFleet(), {}, port)
    const { page } = await session.open(first.url)
    await until(page, '#connection', 'Live')
    await first.end()
    await session.serve(new WatchedFleet(), { token }, port)
    await page.locator('input[type=password]').waitFor(SOON)
  })
})

test('a login with the token opens the page, and a logout closes it', async () => {
  const { url } = await session.serve(new WatchedFleet(), { token })
  const { page, faults } = await session.open(url)
  await page.evaluate(axe.source)
  expect(await violations(page)).toEqual([])
  await page.getByLabel('Token').fill('not the token at all')
  await page.getByRole('button', { name: 'Log in' }).click()
  await until(page, '[role=alert]', 'The token is wrong.')
  await page.getByLabel('Token').fill(token)
  await page.keyboard.press('Enter')
  await until(page, '#verdict', 'Healthy')
  expect(page.url()).toBe(url)
  expect(await page.evaluate('document.cookie')).toBe('')
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByLabel('Token').waitFor(SOON)
  expect(faults).toEqual([])
})

test('a host that is not loopback gets an error page', async () => {
  const { url } = await session.serve(new WatchedFleet())
  const rebinding = await session.browser.newContext({ extraHTTPHeaders: { 'x-forwarded-for': '192.0.2.1' } })
  closing.push(() => rebinding.close())
  const page = await rebinding.newPage()
  await page.goto(url)
  await until(page, 'h1', 'Access denied')
})
