import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { postgresLedger } from '@sluice/counters/postgres'
import { createSluice } from '@sluice/express'
import { FakeClock } from '@sluice/testkit'
import express from 'express'
import request from 'supertest'
import { compile } from './compiler.ts'
import { pages, pageText, tsconfigOfBlocks, writeBlocks } from './docs/blocks.ts'
import { complaintsOfPages, runningPages } from './docs/run-pages.ts'
import { root } from './repository.ts'
import { type PostgresServer, startPostgres } from './services/postgres/postgres-server.ts'
import { type RedisServer, startRedis } from './services/redis/redis-server.ts'

const blocks = writeBlocks()
const PAGES_PER_PROCESS = 24

/** Names of pages that run in one process, joined by commas. */
function groupsOf(names: readonly string[]): string[] {
  const starts = names.map((_, index) => index).filter((index) => index % PAGES_PER_PROCESS === 0)
  return starts.map((start) => names.slice(start, start + PAGES_PER_PROCESS).join(', '))
}

describe('the code in the documentation', () => {
  let redis: RedisServer
  let postgres: PostgresServer

  beforeAll(async () => {
    ;[redis, postgres] = await Promise.all([startRedis(), startPostgres()])
    // the pages use counters before they explain how tables are created
    await postgresLedger(postgres.pool()).migrate()
  })

  afterAll(() => Promise.all([redis.stop(), postgres.stop()]))

  test('type-checks, all of it', async () => {
    expect(await compile(tsconfigOfBlocks)).toBe('')
  }, 120_000)

  // several pages per process, because a process needs seconds to load the packages
  const [onNewerNode, onThisNode] = runningPages()

  test.each(groupsOf(onThisNode))(
    'runs: %s',
    async (group) => {
      expect(await complaintsOfPages(group.split(', '), { redis, postgres })).toBe('')
    },
    120_000,
  )

  test('runs in the long form if it needs a newer Node', () => {
    const expected = ['packages/stores/README.md', 'docs/stores.md']
    expect(onNewerNode).toEqual(process.getBuiltinModule('node:sqlite' as never) ? [] : expected)
  })

  test('declares no name that CommonJS modules already have', () => {
    const names = /^(?:const|let|class|function) (?:exports|require|module|__filename|__dirname)\b/m
    expect(blocks.filter(({ code }) => names.test(code)).map(({ at }) => at)).toEqual([])
  })

  test('gives the reason if a block cannot run', () => {
    for (const { code, runs } of blocks) if (!runs) expect(code).toMatch(/^\/\/ not run: ./)
    expect(blocks.filter(({ runs }) => !runs).length).toBeLessThanOrEqual(6)
  })
})

test('the denial in the README equals the denial of its first limit', async () => {
  const { rateLimit } = createSluice({ clock: new FakeClock() })
  const app = express()
  app.use(rateLimit({ limit: 100, window: '1m' }))
  let denied = await request(app).get('/')
  for (let sent = 1; sent <= 100; sent++) denied = await request(app).get('/')
  const shown = /^```http\n([\s\S]*?)\n```$/m.exec(pageText('README.md'))?.[1] as string
  const [head, body] = shown.split('\n\n')
  const [status, ...lines] = head.split('\n')
  expect(status).toBe(`HTTP/1.1 ${denied.status} Too Many Requests`)
  for (const line of lines) {
    const [name, value] = line.split(/: (.*)/)
    expect([name, denied.headers[name.toLowerCase()]]).toEqual([name, value])
  }
  expect(denied.text).toBe(body)
})

test('the README opens with the picture of the live page and has at most 700 words of prose, 60 of them before the first limit', () => {
  const text = pageText('README.md')
  expect(text).toMatch(/^# Sluice\n\n<picture>\n.*insight-overview-dark\.png.*\n.*insight-overview-light\.png/)
  const prose = text.replace(/^```.*?^```$|^<picture>.*?^<.picture>$/gms, '').replace(/^\|.*$/gm, '')
  expect(prose.split(/\s+/).length).toBeLessThanOrEqual(700)
  const [before] = prose.split('## Your first limit')
  expect(before.split(/\s+/).length).toBeLessThanOrEqual(60)
})

describe.each(pages)('%s', (page) => {
  const text = pageText(page)

  test('links to existing files and sections', () => {
    const links = [...text.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(([, link]) => link)
    const broken = links.filter((link) => {
      const [path, anchor] = link.split('#')
      const target = path === '' ? page : join(dirname(page), path)
      if (!existsSync(join(root, target))) return true
      return anchor !== undefined && !anchorsOf(pageText(target)).includes(anchor)
    })
    expect(broken).toEqual([])
  })

  test('mentions only existing test files', () => {
    const named = [...text.matchAll(/`(test\/[\w./-]+\.ts)`/g)].map(([, path]) => path)
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })
})

/** Anchors of headings, generated like GitHub does. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .trim()
      .replace(/\s/g, '-'),
  )
}
