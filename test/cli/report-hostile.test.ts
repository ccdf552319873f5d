import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import { replayCommand } from '@sluice/cli'
import { eachSeed } from '@sluice/testkit'
import { escapedHtml, printable } from '../../packages/cli/src/report/safe-text.ts'
import { LOG_START } from './log-lines.ts'
import { CommandFolder, TextSink } from './replay-run.ts'

const folder = new CommandFolder()
afterAll(() => folder.remove())

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</style></svg><svg onload=alert(1)>',
  '&lt;b&gt; &amp;',
  '\x1b]0;owned\x07\x1b[2J\x1b[31mred',
  '\x9b31m\x85',
  'a\nb\r\nc\td\0e',
  '\u202egnp.exe\u2066',
  '\ud800 lone',
  'x'.repeat(100_000 >> 1),
  '__proto__',
  '€ 漢字 👩‍👩‍👧',
]

interface Outputs {
  readonly text: string
  readonly html: string
  readonly json: string
}

async function outputs(): Promise<Outputs> {
  const lines = HOSTILE.flatMap((principal, index) =>
    [0, 1].map((second) =>
      JSON.stringify({
        time: LOG_START + second * 1000 + index * 60_000,
        principal,
        method: 'GET',
        path: `/${principal}`,
      }),
    ),
  )
  const log = folder.file('hostile.json', `${lines.join('\n')}\n{"time":"<b>\x1b[31m",\n\x1b]0;owned\x07<script>\n`)
  const policies = folder.file(
    'hostile.yaml',
    'version: 1\npolicies:\n  - { name: "<i>api</i>", key: principal, unit: "<u>", limit: 1, per: 10s }\n',
  )
  const html = join(folder.path, 'report.html')
  const [text, json] = [new TextSink(), new TextSink()]
  expect(await replayCommand([log], { policies, html, stdout: text })).toBe(0)
  expect(await replayCommand([log], { policies, json: true, stdout: json })).toBe(0)
  return { text: text.text, json: json.text, html: readFileSync(html, 'utf8') }
}

describe('reports of hostile logs', () => {
  test('contain no sequence that controls a terminal', async () => {
    const { text, json } = await outputs()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must be absent
    expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/)
    expect(text).toContain('\\x1b[31mred')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must be absent
    expect(json).not.toMatch(/[\x00-\x09\x0b-\x1f]/)
  })

  test('contain no HTML of the log', async () => {
    const { html } = await outputs()
    const tags = new Set([...html.matchAll(/<\/?([a-z!][a-z0-9]*)/gi)].map(([, tag]) => tag.toLowerCase()))
    for (const tag of ['script', 'img', 'b', 'i', 'u', 'iframe']) expect([...tags]).not.toContain(tag)
    for (const tag of html.match(/<[^>]*>/g) ?? []) expect(tag).not.toMatch(/\son\w+=/i)
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(html).toContain('&amp;lt;b&amp;gt; &amp;amp;')
    expect(html).toContain("default-src 'none'")
  })

  test('stay short, however long keys and lines are', async () => {
    const { text, html } = await outputs()
    expect(text.length).toBeLessThan(20_000)
    expect(html.length).toBeLessThan(60_000)
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(400)
  })

  test('refer to no other file', async () => {
    const { html } = await outputs()
    expect(html).not.toMatch(/\b(src|href)="|url\(|@import/)
    expect(html).toMatch(/prefers-color-scheme: dark/)
  })
})

describe('texts of clients', () => {
  test('have no unsafe character after escaping, whatever they are', async () => {
    await eachSeed(500, (random) => {
      const codes = Array.from({ length: random.whole(40) }, () =>
        random.next() < 0.5 ? random.whole(0x100) : random.whole(0x11_0000),
      )
      const text = String.fromCodePoint(...codes)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must be absent
      expect(printable(text)).not.toMatch(/[\x00-\x1f\x7f-\x9f]|\p{Cs}|[\u202a-\u202e\u2066-\u2069]/u)
      expect(escapedHtml(text)).not.toMatch(/[<>"']/)
      expect(printable(text, 10).replace(/\\x..|\\u\{\w+\}/g, '?').length).toBeLessThanOrEqual(10)
    })
  })

  test('keep letters of all languages', () => {
    expect(printable('Ünïcode 漢字 العربية 👍')).toBe('Ünïcode 漢字 العربية 👍')
    expect(printable('abcdef', 4)).toBe('abc…')
  })
})
