// The sections of CHANGELOG.md, one for each version, and the changesets from which they are written.

/** Heading of the changes of each kind, in the order in which a section shows them. */
const HEADINGS = { major: 'Breaking changes', minor: 'Changes', patch: 'Fixes' }
const KINDS = Object.keys(HEADINGS)

const escaped = (version) => version.replaceAll('.', '\\.')
const releasedHeading = (version) => new RegExp(`^## ${escaped(version)} \\(.*\\)$`, 'm')
const unreleasedHeading = (version) => new RegExp(`^## Unreleased: ${escaped(version)}$`, 'm')

/** Whether a path, relative to the repository, is the file of a changeset. */
export function isChangeset(path) {
  return /^\.changeset\/(?!README\.md$)[^/]+\.md$/.test(path)
}

/** Whether the changelog has a dated section of this version. */
export function isReleased(changelog, version) {
  return releasedHeading(version).test(changelog)
}

/**
 * Returns the changelog with a section of `version`, dated `day` (`YYYY-MM-DD`), which ends with the changes of the
 * changesets. What the section `Unreleased: <version>` contains, if there is such a section, stays before them. Throws if
 * the changelog has neither that section nor a section of an earlier version.
 */
export function withRelease(changelog, version, day, changesets) {
  const heading = `## ${version} (${day})`
  const added = changesOf(changesets)
  const unreleased = unreleasedHeading(version).exec(changelog)
  if (unreleased === null) {
    const start = changelog.search(/^## /m)
    if (start < 0) throw new Error('CHANGELOG.md: expected a heading of an earlier version')
    return `${changelog.slice(0, start)}${heading}\n\n${added}\n${changelog.slice(start)}`
  }
  const end = endOfSection(changelog, unreleased.index)
  const body = changelog.slice(unreleased.index + unreleased[0].length, end).trimEnd()
  const rest = changelog.slice(end)
  const parts = [`${heading}${body}\n`, added, rest].filter((part) => part !== '')
  return changelog.slice(0, unreleased.index) + parts.join('\n')
}

/** Returns the text of the section of a released version, without its heading; undefined if there is no such section. */
export function sectionOf(changelog, version) {
  const heading = releasedHeading(version).exec(changelog)
  if (heading === null) return undefined
  return changelog.slice(heading.index + heading[0].length, endOfSection(changelog, heading.index)).trim()
}

function endOfSection(changelog, start) {
  const next = changelog.slice(start + 1).search(/^## /m)
  return next < 0 ? changelog.length : start + 1 + next
}

/** Returns a list for each kind of change, sorted by packages and text, so that names of files do not decide the order. */
function changesOf(changesets) {
  const lists = KINDS.map((kind) => {
    const entries = changesets.filter(({ releases }) => kindOf(releases) === kind).map(entryOf)
    return entries.length === 0 ? '' : `### ${HEADINGS[kind]}\n\n${entries.sort().join('\n')}\n`
  })
  return lists.filter((list) => list !== '').join('\n')
}

/** Returns the greatest kind of a changeset; undefined if it changes no package. */
export function kindOf(releases) {
  return KINDS.find((kind) => releases.some(({ type }) => type === kind))
}

function entryOf({ releases, summary }) {
  const names = releases.map(({ name }) => `\`${name}\``).sort()
  return `- ${names.join(', ')}: ${summary.trim().replaceAll(/\n(?!\n|$)/g, '\n  ')}`
}
