import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Browser, Page } from 'playwright-core'
import { eventually } from '../../services/eventually.ts'
import { type ChildNode, startNode } from '../../services/processes/child-node.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { openBrowser, openPage } from './open-page.ts'

type PageProcess = ChildNode<typeof import('./children/page-process.ts')>

const token = 'a-token-of-enough-characters'
const SHADOW = 'section:has-text("Active changes") td:has-text("Mode: shadow")'
const NO_CHANGES = 'text=No active changes: all limits are as configured.'

let redis: RedisServer
let browser: Browser
const processes: PageProcess[] = []

beforeAll(async () => {
  redis = await startRedis()
  browser = await openBrowser()
  for (let number = 0; number < 2; number++) processes.push(startNode('insight/page/children/page-process.ts'))
})

afterAll(async () => {
  await browser?.close()
  await Promise.all(processes.map((one) => one.stop()))
  await redis?.stop()
})

async function opened(process: PageProcess): Promise<{ shown: Page; address: string; faults: string[] }> {
  const port = await process.call('serve', redis.url, 'a secret of all processes', token)
  const address = `http://127.0.0.1:${port}/`
  const { page: shown, faults } = await openPage(browser, address)
  await shown.fill('input[name=token]', token)
  await shown.click('button')
  await shown.waitForSelector('#connection[data-state=live]')
  return { shown, address, faults }
}

/** Resolves when both processes allow or deny further requests of a key. */
async function bothAnswer(key: string, isAllowed: boolean): Promise<void> {
  const isSo = async () => {
    const answers = await Promise.all(processes.map((one) => one.call('isAllowed', key)))
    return answers.every((answer) => answer === isAllowed)
  }
  await eventually(isSo, { what: `'${isAllowed}' in both processes`, timeoutMs: 20_000 })
}

test('a switch to shadow on one page is shown by both, applies in both processes, and is undone on the other', async () => {
  const [here, there] = [await opened(processes[0]), await opened(processes[1])]
  await bothAnswer('key', false)
  await here.shown.goto(`${here.address}#/policies/api`)
  await here.shown.fill('input[name=by]', 'ann')
  await here.shown.click('button:has-text("Shadow")')
  for (const { shown, address } of [here, there]) {
    await shown.goto(`${address}#/changes`)
    await shown.waitForSelector(SHADOW)
    await shown.waitForSelector("text=ann: policy 'api' switched to shadow")
  }
  await bothAnswer('key', true)
  await there.shown.click('button:has-text("Undo")')
  for (const { shown } of [here, there]) await shown.waitForSelector(NO_CHANGES)
  await bothAnswer('key', false)
  expect([here.faults, there.faults]).toEqual([[], []])
}, 120_000)
