import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { postgresLedger } from '@sluice/counters/postgres'
import { createSluice } from '@sluice/express'
import { FakeClock } from '@sluice/testkit'
import express from 'express'
import request from 'supertest'
import { compile } from './compiler.ts'
import { pages, pageText, tsconfigOfBlocks, writeBlocks } from './docs/blocks.ts'
import { root } from './repository.ts'
import { type PostgresServer, startPostgres } from './services/postgres/postgres-server.ts'
import { type RedisServer, startRedis } from './services/redis/redis-server.ts'
import { sqliteNodeBinary } from './services/sqlite-node-binary.ts'

const run = promisify(execFile)
const blocks = writeBlocks()
const runner = join(root, 'test/docs/run-block.mjs')
const PAGES_PER_PROCESS = 24

/** Names of pages that run in one process, joined by commas. */
function groupsOf(names: readonly string[]): string[] {
  const starts = names.map((_, index) => index).filter((index) => index % PAGES_PER_PROCESS === 0)
  return starts.map((start) => names.slice(start, start + PAGES_PER_PROCESS).join(', '))
}

/** Files of the runnable blocks of a page. */
function runnableOf(page: string): string[] {
  return blocks.filter((block) => block.page === page && block.runs).map(({ file }) => file)
}

/** Whether a page imports `node:sqlite`, which Node.js 20 does not have. */
function needsSqlite(page: string): boolean {
  return blocks.some((block) => block.page === page && /'node:sqlite'/.test(block.code))
}

/** Returns the output of a child process that failed, or an empty string. */
async function complaintsOf(node: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  return run(node, args, { cwd: root, env, timeout: 110_000 }).then(
    () => '',
    (failure) => `${failure.stdout}${failure.stderr}${failure.killed ? 'it did not end by itself' : ''}`,
  )
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
  const running = pages.filter((page) => runnableOf(page).length > 0)
  const apart = running.filter(needsSqlite)

  test.each([...groupsOf(running.filter((page) => !needsSqlite(page))), ...groupsOf(apart)])(
    'runs: %s',
    async (group) => {
      const { NODE_OPTIONS: _ours, SLUICE_MODE: _mode, ...others } = process.env
      const env = { ...others, REDIS_PORT: String(redis.port), POSTGRES_URL: postgres.url, LIMITS_FILE: ':memory:' }
      const node = group.split(', ').some(needsSqlite) ? sqliteNodeBinary() : process.execPath
      const files = group.split(', ').flatMap(runnableOf)
      expect(await complaintsOf(node, ['--conditions=@sluice/source', runner, ...files], env)).toBe('')
    },
    120_000,
  )

  test('declares no name that CommonJS modules already have', () => {
    const names = /^(?:const|let|class|function) (?:exports|require|module|__filename|__dirname)\b/m
    expect(blocks.filter(({ code }) => names.test(code)).map(({ at }) => at)).toEqual([])
  })

  test('gives the reason if a block cannot run', () => {
    for (const { code, runs } of blocks) if (!runs) expect(code).toMatch(/^\/\/ not run: ./)
    expect(blocks.filter(({ runs }) => !runs).length).toBeLessThanOrEqual(2)
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

test('the README opens with the picture of the live page and has at most 700 words of prose', () => {
  const text = pageText('README.md')
  expect(text).toMatch(/^# Sluice\n\n<picture>\n.*insight-overview-dark\.png.*\n.*insight-overview-light\.png/)
  const prose = text.replace(/^```.*?^```$/gms, '').replace(/^\|.*$/gm, '')
  expect(prose.split(/\s+/).length).toBeLessThanOrEqual(700)
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
