// Run this after npm has changed package-lock.json. `npm ci` rejects a lock that omits an optional package, even for
// another platform, and npm omits packages that its registry did not serve when the lock was written.
// With --check nothing is written, and it fails if a package is missing.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../root-command.mjs'
import { unlockedOptionals } from './unlocked-optionals.mjs'

const path = join(root, 'package-lock.json')
const lock = JSON.parse(readFileSync(path, 'utf8'))
const added = unlockedOptionals(lock.packages)

if (process.argv.includes('--check')) {
  for (const [place] of added)
    console.error(`package-lock.json leaves out ${place}: run node tools/release/complete-lock.mjs`)
  process.exitCode = added.length === 0 ? 0 : 1
} else if (added.length > 0) {
  const packages = { ...lock.packages, ...Object.fromEntries(added) }
  const places = Object.keys(packages).sort((a, b) => a.localeCompare(b, 'en'))
  lock.packages = Object.fromEntries(places.map((place) => [place, packages[place]]))
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
  console.log(`package-lock.json: ${added.length} optional packages added`)
}
