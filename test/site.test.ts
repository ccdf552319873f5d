import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { run } from './packaging/command.ts'
import { root } from './repository.ts'

jest.setTimeout(180_000)

const builder = join(root, 'site/src/build.mjs')
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-site-'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function built(...flags: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  return run(process.execPath, [builder, ...flags, join(folder, 'site')], root)
}

async function brokenLinks(pages: Readonly<Record<string, string>>): Promise<unknown> {
  const site = join(folder, 'written')
  rmSync(site, { recursive: true, force: true })
  for (const [path, text] of Object.entries(pages)) {
    mkdirSync(join(site, path, '..'), { recursive: true })
    writeFileSync(join(site, path), text)
  }
  const checker = pathToFileURL(join(root, 'site/src/broken-links.mjs')).href
  const program = `import { brokenLinks } from '${checker}'; console.log(JSON.stringify(brokenLinks('${site}')))`
  const { output } = await run(process.execPath, ['--input-type=module', '-e', program], root)
  return JSON.parse(output)
}

describe('the reference site', () => {
  test('has a page for each guide, and all links between its pages lead to a section', async () => {
    const { code, output } = await built('--pages-only')
    expect([code, output.replace(/^.*index\.html\n?$/m, '')]).toEqual([0, ''])
    const titles = readdirSync(join(root, 'docs'))
      .filter((name) => name.endsWith('.md') && name !== 'README.md')
      .map((name) => /^# (.+)$/m.exec(readFileSync(join(root, 'docs', name), 'utf8'))?.[1].replace(/[`*]/g, ''))
    const pages = readdirSync(join(folder, 'site/documents')).map(
      (page) => /<title>(.*) \| Sluice<\/title>/.exec(readFileSync(join(folder, 'site/documents', page), 'utf8'))?.[1],
    )
    expect(titles.length).toBeGreaterThan(25)
    expect(titles.filter((title) => !pages.includes(title))).toEqual([])
  })

  test('is checked for links to missing pages, to missing sections, and out of the site', async () => {
    const page =
      '<p id="here"><a class="x" href="b/two.html#there">x</a><a href="#here">x</a><a href="https://x.y">x</a>'
    const two = '<h2 id="there"></h2><a href="../one.html">1</a> <a href="../">index</a>'
    expect(await brokenLinks({ 'one.html': page, 'b/two.html': two, 'index.html': '' })).toEqual([])
    const broken = ['three.html', 'one.html#gone', '../../outside.html', 'b']
    const links = broken.map((link) => `<a href="${link}">x</a>`).join('')
    const found = await brokenLinks({ 'index.html': links, 'one.html': '', 'b/two.html': '' })
    expect(found).toEqual(broken.map((link) => ({ page: 'index.html', link })))
  })
})
