// Prints the section of a version in CHANGELOG.md, as the notes of its release:
// node tools/release/versions/notes.mjs <version> [folder of a repository]. Fails if the version has no dated section, or
// if a changeset is left, whose text would be missing.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { root } from '../../root-command.mjs'
import { isChangeset, sectionOf } from './changelog.mjs'

const [version, home = root] = process.argv.slice(2)
const read = (path) => readFileSync(join(resolve(home), path), 'utf8')
const section = sectionOf(read('CHANGELOG.md'), version)
const left = readdirSync(join(resolve(home), '.changeset')).filter((name) => isChangeset(`.changeset/${name}`))

if (section === undefined) fail(`CHANGELOG.md: expected a section "## ${version} (YYYY-MM-DD)"`)
else if (left.length > 0) fail(`.changeset: expected no changeset in a release, found ${left.join(', ')}`)
else console.log(linkedFrom(section))

function fail(problem) {
  console.error(`${problem}: run npm run release, and commit what it writes before you tag`)
  process.exitCode = 1
}

/** Makes links to files of the repository absolute, because the notes are shown outside of it. */
function linkedFrom(text) {
  const { homepage } = JSON.parse(read('package.json'))
  const files = `${homepage.replace('#readme', '')}/blob/v${version}/`
  return text.replaceAll(/\]\((?!https?:|#)/g, `](${files}`)
}
