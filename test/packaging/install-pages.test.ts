import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { packages, root } from '../repository.ts'

function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** Returns the folders of the Sluice packages that a package needs, including its own. */
function neededBy(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found
  found.add(name)
  const { dependencies = {} } = JSON.parse(readText(`packages/${name}/package.json`))
  for (const each of Object.keys(dependencies)) {
    if (each.startsWith('@sluice/')) neededBy(each.slice('@sluice/'.length), found)
  }
  return found
}

test('CONTRIBUTING.md installs the tarballs of all packages that @sluice/express needs, and no others', () => {
  const [, names = ''] = /tarballs\/sluice-\{([^}]*)\}/.exec(readText('CONTRIBUTING.md')) ?? []
  expect(names.split(',').sort()).toEqual([...neededBy('express')].sort())
})

test('docs/packages.md names every package with its peers', () => {
  const page = readText('docs/packages.md')
  const rows = packages.map(({ name, manifest }) => {
    const { peerDependencies = {}, peerDependenciesMeta = {} } = manifest
    const peers = Object.keys(peerDependencies).filter((peer) => !peer.startsWith('@sluice/'))
    return [
      name,
      peers.map((peer) => `\`${peer}\`${peerDependenciesMeta[peer]?.optional ? '*' : ''}`).join(', ') || '–',
    ]
  })
  const shown = [...page.matchAll(/^\| \[`(@sluice\/[\w-]+)`\]\([^)]+\) \| [^|]+ \| ([^|]+) \|/gm)]
  expect(shown.map(([, name, peers]) => [name, peers]).sort()).toEqual(rows.sort())
})
