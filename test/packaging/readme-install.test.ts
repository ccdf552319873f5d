import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { root } from '../repository.ts'

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

test('the README installs the tarballs of all packages that @sluice/express needs, and no others', () => {
  const [, names = ''] = /tarballs\/sluice-\{([^}]*)\}/.exec(readText('README.md')) ?? []
  expect(names.split(',').sort()).toEqual([...neededBy('express')].sort())
})
