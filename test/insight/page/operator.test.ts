import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { createInsight, type Dashboard, dashboard, type Insight } from '@sluice/insight'
import {
  createInflightLimiter,
  createLimiter,
  type Limiter,
  type LocalInflightLimiter,
  memoryBackend,
} from '@sluice/limiter-core'
import axe, { type AxeResults } from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { type Listening, listening, openBrowser, openPage } from './open-page.ts'

const token = 'a-token-of-enough-characters'

let browser: Browser
let served: Listening
let insight: Insight
let page: Dashboard
let limiter: Limiter
let cap: LocalInflightLimiter
const hostile = `<img src=x onerror="document.title='x'">\u202e${'m'.repeat(500)}`

beforeAll(async () => {
  browser = await openBrowser()
  insight = createInsight({ control: { limits: { api: { min: 1, max: 9 } }, caps: { uploads: { min: 1, max: 5 } } } })
  const policies = [{ name: 'api', limit: 2, window: '1h', algorithm: 'fixed-window' }] as const
  limiter = createLimiter({ policies, observers: [insight], backend: memoryBackend() })
  cap = createInflightLimiter({ name: 'uploads', limit: 1, observers: [insight] })
  page = dashboard({ insight, token, updateMs: 250 })
  served = await listening(page)
})

// a page that stays open redraws with each update
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
})

afterAll(async () => {
  page?.close()
  await browser?.close()
  await served?.stop()
  await insight?.close()
})

async function opened(hash = ''): Promise<{ shown: Page; faults: string[] }> {
  const { page: shown, faults } = await openPage(browser, served.url)
  await shown.fill('input[name=token]', token)
  await shown.click('button')
  await shown.waitForSelector('#connection[data-state=live]')
  await shown.goto(`${served.url}${hash}`)
  return { shown, faults }
}

describe('the key of a complaining customer', () => {
  test('is found in three clicks, and admitted again', async () => {
    for (let n = 0; n < 5; n++) await limiter.take('customer@example.com')
    const { shown, faults } = await opened()
    // first: the key in the list of denied keys
    await shown.click('section:has-text("Most denied keys") a:has-text("cust…")')
    await shown.waitForSelector('text=/denied by .api.: 2 of 2 requests used, 1 requested, retry in/')
    expect(await shown.textContent('#view h2.title')).toBe('Key cust…')
    expect(await shown.textContent('section:has-text("Recent denials")')).toContain('3')
    // second: reset its usage
    await shown.fill('input[name=by]', 'ann')
    await shown.click('button:has-text("Reset usage")')
    await shown.waitForSelector('text=Usage reset.')
    await shown.waitForSelector('text=/allowed by .api.: 0 of 2 requests used/')
    expect((await limiter.take('customer@example.com')).allowed).toBe(true)
    // third: the audit
    await shown.click('nav a:has-text("Changes")')
    await shown.waitForSelector('text=ann: key cust… reset in all policies')
    // and back in the browser history
    await shown.goBack()
    await shown.waitForSelector('h2.title:has-text("Key cust…")')
    expect(faults).toEqual([])
  })

  test('can be looked up by name, with requested units', async () => {
    const { shown } = await opened('#/keys')
    await shown.fill('input[name=key]', 'somebody new')
    await shown.fill('input[name=cost]', '7')
    await shown.click('button:has-text("Look up key")')
    await shown.waitForSelector('text=/denied by .api.: 0 of 2 requests used, 7 requested, can never be allowed/')
    expect(shown.url()).toContain('#/keys/key/somebody%20new?cost=7')
    await shown.goto(`${served.url}#/keys/id/nobody`)
    await shown.waitForSelector('text=This process has not recently seen a key with this ID')
  })
})

test('a policy can be switched to shadow and back', async () => {
  const { shown, faults } = await opened('#/policies/api')
  await shown.selectOption('select[name=duration]', '5m')
  await shown.fill('input[name=reason]', 'a launch')
  await shown.click('button:has-text("Shadow")')
  await shown.waitForSelector('section:has-text("Active changes") td:has-text("Mode: shadow")')
  for (let n = 0; n < 4; n++) expect((await limiter.take('launch')).allowed).toBe(true)
  expect(insight.controls()).toMatchObject([{ mode: 'shadow', by: 'page', reason: 'a launch' }])
  await shown.goto(`${served.url}#/`)
  await shown.waitForSelector('section:has-text("Active changes")')
  await shown.goto(`${served.url}#/changes`)
  await shown.click('button:has-text("Undo")')
  await shown.waitForSelector('text=No active changes: all limits are as configured.')
  expect((await limiter.take('launch')).allowed).toBe(false)
  expect(faults).toEqual([])
})

test('a limit outside of its bounds is rejected with an explanation', async () => {
  const { shown } = await opened('#/policies/api')
  await shown.fill('input[name=limit]', '10')
  await shown.click('button:has-text("Set limit")')
  await shown.waitForSelector('#outcome:has-text("expected an integer from 1 to 9 for policy \'api\'")')
  await shown.fill('input[name=limit]', '9')
  await shown.click('button:has-text("Set limit")')
  await shown.waitForSelector('section:has-text("Active changes") td:has-text("Limit: 9")')
  for (const { id } of insight.controls()) await insight.undo(id)
})

test('a cap can be given another limit, and switched to shadow', async () => {
  cap.acquire('key')?.release()
  const { shown, faults } = await opened('#/changes')
  await shown.waitForSelector('section:has-text("Change a cap") option:has-text("uploads")', { state: 'attached' })
  await shown.fill('section:has-text("Change a cap") input[name=limit]', '5')
  await shown.click('button:has-text("Set places")')
  await shown.waitForSelector('section:has-text("Active changes") td:has-text("Cap uploads")')
  expect(cap.limit).toBe(5)
  await shown.click('button:has-text("Switch the cap to shadow")')
  await shown.waitForSelector("text=page: cap 'uploads' switched to shadow")
  for (let n = 0; n < 7; n++) expect(cap.acquire('key')).toBeDefined()
  for (const { id } of insight.controls()) await insight.undo(id)
  expect([cap.limit, cap.acquire('key'), faults]).toEqual([1, undefined, []])
})

test('a hostile key is displayed as text, also in changes and in the audit', async () => {
  await limiter.take(hostile, 2)
  await limiter.take(hostile)
  await insight.control({ action: 'block', key: hostile, by: '<b>bold</b>', reason: '"\'><script>' })
  for (const hash of ['#/', '#/changes', `#/keys/key/${encodeURIComponent(hostile)}`]) {
    const { shown, faults } = await opened(hash)
    await shown.waitForSelector('text=<b>bold</b>')
    expect(await shown.locator('main img, main script, main b').count()).toBe(0)
    expect([await shown.title(), faults]).toEqual(['Limits', []])
  }
  for (const { id } of insight.controls()) await insight.undo(id)
})

test('axe finds no serious problems in the forms for changes', async () => {
  await limiter.take('somebody')
  await insight.control({ action: 'block', key: 'somebody', reason: 'scraping' })
  const { shown } = await opened()
  await shown.evaluate(axe.source)
  for (const [hash, heading] of [
    ['#/changes', 'Audit log'],
    ['#/keys', 'Look up a key'],
    ['#/keys/key/somebody', 'Actions'],
    ['#/policies/api', 'Policy'],
  ]) {
    await shown.goto(`${served.url}${hash}`)
    await shown.waitForSelector(`#view h2:has-text("${heading}")`)
    const { violations } = await shown.evaluate<AxeResults>('axe.run()')
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    expect({ hash, serious: serious.map(({ id, nodes }) => [id, nodes[0].html]) }).toEqual({ hash, serious: [] })
  }
  for (const { id } of insight.controls()) await insight.undo(id)
})

test('without a token, changes are disabled with an explanation', async () => {
  const open = dashboard({ insight, updateMs: 250 })
  const other = await listening(open)
  const { page: shown } = await openPage(browser, `${other.url}#/changes`)
  await shown.waitForSelector('text=Set a token for the dashboard to make changes here')
  await shown.goto(`${other.url}#/policies/api`)
  await shown.waitForSelector('h2:has-text("Outcomes")')
  expect(await shown.locator('form.fields').count()).toBe(0)
  open.close()
  await other.stop()
})
