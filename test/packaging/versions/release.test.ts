import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import readChangesets from '@changesets/read'
import { describe, expect, test } from '@jest/globals'
import { packages, readManifest, root } from '../../repository.ts'
import { CopiedWorkspaces, lockIn } from './copied-workspaces.ts'

const { version } = readManifest(root)
const [major, minor, patch] = version.split('.').map(Number)
const day = expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/)

/** A copy whose version has been released. */
function releasedCopy(): CopiedWorkspaces {
  const copy = new CopiedWorkspaces()
  copy.write('CHANGELOG.md', `# Changelog\n\nOne version.\n\n## ${version} (2026-01-02)\n\nWhat it had.\n`)
  return copy
}

describe('a release', () => {
  test.each([
    // redis has sketches as a peer, and counters have redis: a new version of a peer alone breaks no program
    ['minor', { sketches: 'minor', redis: 'patch' }, `${major}.${minor + 1}.0`],
    ['patch', { sketches: 'patch' }, `${major}.${minor}.${patch + 1}`],
    ['major', { express: 'major', sketches: 'minor' }, `${major + 1}.0.0`],
  ] as const)('with a %s change gives it to all manifests, to their ranges and to the lock', async (_, kinds, next) => {
    using copy = releasedCopy()
    const lock = lockIn(copy.folder)
    copy.change('one', kinds, 'Change something.')
    expect(await copy.run('bump.mjs')).toMatchObject({ code: 0, output: expect.stringContaining(next) })

    for (const path of copy.homes.map((home) => join(home, 'package.json'))) {
      expect([path, copy.read(path)]).toEqual([path, moved(readFileSync(join(root, path), 'utf8'), next)])
    }
    const entries = Object.entries(lock.packages).map(([home, entry]) => {
      return [home, copy.homes.includes(home) ? JSON.parse(moved(JSON.stringify(entry, undefined, 1), next)) : entry]
    })
    expect(lockIn(copy.folder).packages).toEqual(Object.fromEntries(entries))
    expect(copy.read('package-lock.json')).not.toContain('"resolved": "http')
    expect(copy.read('packages/cli/src/version.ts')).toContain(`VERSION = '${next}'`)
    expect(copy.read('packages/insight/src/live/report/version.ts')).toContain(`VERSION = '${next}'`)
    expect(copy.read('docs/cli.md')).toContain(`// ${next}`)
    const added = 'test/extending/framework/files/packages/router/package.json.txt'
    expect(copy.read(added)).toBe(moved(readFileSync(join(root, added), 'utf8'), next))
  })

  test('puts the text of each change into one changelog, by its kind', async () => {
    using copy = releasedCopy()
    copy.change('b', { sketches: 'patch' }, 'Count the last key.')
    copy.change('a', { redis: 'minor', express: 'minor' }, 'Add `later`.\n\nIt waits.\nThen it runs.')
    copy.change('c', { koa: 'patch', fastify: 'minor' }, 'Add `sooner`.')
    copy.change('d', {}, '')
    await copy.run('bump.mjs')
    expect(copy.changesets).toEqual([])
    expect(copy.changelogs).toEqual(['CHANGELOG.md'])
    const [intro, heading, ...rest] = copy.read('CHANGELOG.md').split(/^(## .*\n)/m)
    expect(intro).toBe('# Changelog\n\nOne version.\n\n')
    expect(/^## (\S+) \((.*)\)$/.exec(heading.trim())?.slice(1)).toEqual([`${major}.${minor + 1}.0`, day])
    expect(rest.join('')).toBe(`
### Changes

- \`@sluice/express\`, \`@sluice/redis\`: Add \`later\`.

  It waits.
  Then it runs.
- \`@sluice/fastify\`, \`@sluice/koa\`: Add \`sooner\`.

### Fixes

- \`@sluice/sketches\`: Count the last key.

## ${version} (2026-01-02)

What it had.
`)
  })

  test('keeps its version and the text of the changelog if that version has not been released', async () => {
    using copy = new CopiedWorkspaces()
    copy.write('CHANGELOG.md', `# Changelog\n\n## Unreleased: ${version}\n\nThe first.\n\n### Packages\n\nAll.\n`)
    copy.change('one', { express: 'minor' }, 'Add `later`.')
    expect((await copy.run('bump.mjs')).code).toBe(0)
    expect(copy.changesets).toEqual([])
    for (const home of copy.homes) expect(readManifest(join(copy.folder, home)).version).toBe(version)
    expect(copy.read('CHANGELOG.md').replace(/\(\d{4}-\d{2}-\d{2}\)/, '(day)')).toBe(
      `# Changelog\n\n## ${version} (day)\n\nThe first.\n\n### Packages\n\nAll.\n\n### Changes\n\n- \`@sluice/express\`: Add \`later\`.\n`,
    )
  })

  test.each<[string, (copy: CopiedWorkspaces) => void, string]>([
    ['no changeset names a package', (copy) => copy.change('one', {}, ''), 'expected a change of a package'],
    [
      'no package changes',
      (copy) => copy.change('one', { redis: 'none' }, 'Test it.'),
      'expected a change of a package',
    ],
    ['a package is unknown', (copy) => copy.change('one', { rediss: 'minor' }, 'Add it.'), 'one.md: expected packages'],
    ['a change has no text', (copy) => copy.change('one', { redis: 'minor' }, ''), 'one.md: expected a text'],
    ['a file does not contain the version', (copy) => copy.write('docs/cli.md', ''), 'docs/cli.md: expected'],
    ['it is a prerelease', (copy) => copy.write('.changeset/pre.json', '{"mode":"pre"}'), 'expected no prerelease'],
  ])('fails and changes nothing if %s', async (_, spoil, message) => {
    using copy = releasedCopy()
    copy.change('two', {}, '')
    spoil(copy)
    const [changelog, changesets] = [copy.read('CHANGELOG.md'), copy.changesets]
    expect(await copy.run('bump.mjs')).toMatchObject({ code: 1, output: expect.stringContaining(message) })
    expect(copy.changesets).toEqual(changesets)
    expect(copy.read('CHANGELOG.md')).toBe(changelog)
    for (const home of copy.homes) expect(readManifest(join(copy.folder, home)).version).toBe(version)
  })

  test('of a version that has not been released accepts only packages of this repository', async () => {
    using copy = new CopiedWorkspaces()
    copy.write('CHANGELOG.md', `# Changelog\n\n## Unreleased: ${version}\n\nThe first.\n`)
    copy.change('one', { rediss: 'minor' }, 'Add it.')
    expect(await copy.run('bump.mjs')).toMatchObject({ code: 1, output: expect.stringContaining('@sluice/rediss') })
    expect(copy.changesets).toEqual(['one.md'])
  })
})

describe('the notes of a release', () => {
  test('are its section of the changelog, with links that work outside of the repository', async () => {
    using copy = releasedCopy()
    const text = 'Add it ([guide](docs/bans.md#lift), [RFC](https://www.rfc-editor.org/rfc/rfc9110)).'
    copy.write('CHANGELOG.md', `## 9.1.0 (2026-03-04)\n\n- ${text}\n\n## ${version} (2026-01-02)\n\nWhat it had.\n`)
    const guide = 'https://github.com/sluicejs/sluice/blob/v9.1.0/docs/bans.md#lift'
    expect(await copy.run('notes.mjs', '9.1.0')).toMatchObject({
      code: 0,
      stdout: `- ${text.replace('docs/bans.md#lift', guide)}\n`,
    })
    expect((await copy.run('notes.mjs', version)).stdout).toBe('What it had.\n')
  })

  test('fail if the version is not in the changelog, or if a changeset was forgotten', async () => {
    using copy = releasedCopy()
    expect(await copy.run('notes.mjs', '9.0.0')).toMatchObject({ code: 1, output: expect.stringContaining('9.0.0') })
    copy.change('forgotten', { express: 'patch' }, 'Correct it.')
    const left = await copy.run('notes.mjs', version)
    expect(left).toMatchObject({ code: 1, stdout: '', output: expect.stringContaining('forgotten.md') })
  })
})

test('the changesets of this repository name its packages', async () => {
  const names = packages.map(({ name }) => name)
  const named = (await readChangesets(root)).flatMap(({ id, releases }) => releases.map(({ name }) => ({ id, name })))
  expect(named.filter(({ name }) => !names.includes(name))).toEqual([])
})

test('no package has a changelog of its own', () => {
  expect(packages.filter(({ folder }) => readdirSync(folder).includes('CHANGELOG.md'))).toEqual([])
})

/** Returns the text of a manifest, or of its part in the lock, as it is in the next version. */
function moved(text: string, next: string): string {
  return text
    .replace(`"version": "${version}"`, `"version": "${next}"`)
    .replaceAll(new RegExp(`("@sluice/[^"]*": )"${version.replaceAll('.', '\\.')}"`, 'g'), `$1"${next}"`)
}
