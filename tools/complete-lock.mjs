// Run after npm has changed package-lock.json. `npm ci` refuses a lock that leaves out an optional package, be it for
// another platform, and npm leaves out those that its registry did not serve when the lock was made.
// With --check nothing is written: it fails where something is left out.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './root-command.mjs'
import { unlockedOptionals } from './unlocked-optionals.mjs'

const path = join(root, 'package-lock.json')
const lock = JSON.parse(readFileSync(path, 'utf8'))
const added = unlockedOptionals(lock.packages)

if (process.argv.includes('--check')) {
  for (const [place] of added) console.error(`package-lock.json leaves out ${place}: run node tools/complete-lock.mjs`)
  process.exitCode = added.length === 0 ? 0 : 1
} else if (added.length > 0) {
  const packages = { ...lock.packages, ...Object.fromEntries(added) }
  const places = Object.keys(packages).sort((a, b) => a.localeCompare(b, 'en'))
  lock.packages = Object.fromEntries(places.map((place) => [place, packages[place]]))
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
  console.log(`package-lock.json: ${added.length} optional packages added`)
}
