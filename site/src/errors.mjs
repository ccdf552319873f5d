import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { linked } from './linked.mjs'
import { root, textOf } from './repository.mjs'

const PATH = 'docs/errors.md'
const SECTION = /^## (SLUICE_\w+)\n([\s\S]*?)(?=^## |(?![\s\S]))/gm
const PART = /^\*\*(Cause|Fix|Example)\.\*\*[ \n]/m
/** The style of the pages breaks long messages. */
const FRONT_MATTER = '---\npageClass: errors\n---\n\n'
const THROWN = 'An error: it is thrown, or its promise is rejected, and `error.code` is this code.'
const WARNED = 'A warning: it is printed with `process.emitWarning`, and the program continues.'
const BOTH = 'An error with this `error.code`, or a warning that is printed with `process.emitWarning`.'

/** The codes of `docs/errors.md`, in its order, with the page and the section of each. */
export function errorCodes() {
  return Array.from(textOf(PATH).matchAll(SECTION), ([, code, section]) => {
    return { code, section, page: `errors/${code.toLowerCase()}.md` }
  })
}

/** The pages of the codes, by path: what `docs/errors.md` says, and what the source does with each code. */
export function errorPages() {
  const sources = sourcesOfPackages()
  return new Map(errorCodes().map((entry) => [entry.page, pageText({ ...entry, ...usesOf(entry, sources) })]))
}

/** The text of `docs/errors.md` as shown by the site: each section links to the page of its code. */
export function withErrorPages(text) {
  return (
    FRONT_MATTER +
    text.replace(/^## (SLUICE_\w+)$/gm, (heading, code) => {
      return `${heading}\n\n[Page of this code](./errors/${code.toLowerCase()}.html)`
    })
  )
}

function pageText({ code, section, page, kind, packages }) {
  // the links to other codes lead to their pages
  const links = linked(section, PATH, page).replace(/\]\(#(sluice_\w+)\)/g, '](./$1.html)')
  const [before, ...parts] = links.split(PART)
  const byName = new Map(parts.flatMap((name, index) => (index % 2 === 0 ? [[name, parts[index + 1].trim()]] : [])))
  for (const name of ['Cause', 'Fix', 'Example']) {
    if (!byName.get(name)) throw new Error(`${PATH}: ${code} has no ${name}`)
  }
  if (before.trim() !== '') throw new Error(`${PATH}: ${code} has text before its cause`)
  const readmes = packages.map((name) => `[@sluice/${name}](../packages/${name}.html)`)
  return `${FRONT_MATTER}# ${code}

${kind} In the source of ${readmes.join(', ')}.

## Example

${byName.get('Example')}

## Cause

${byName.get('Cause')}

## Fix

${byName.get('Fix')}

[All errors and warnings](../errors.html#${code.toLowerCase()})
`
}

/** How the source reports a code, and the packages that do. Examples of warnings end in the address of their section. */
function usesOf({ code, section }, sources) {
  const quoted = `'${code}'`
  const users = sources.filter(({ text }) => text.includes(quoted))
  const warns = users.some(({ text }) => new RegExp(`(?:[wW]arn\\w*|\\bonce)\\(\\s*${quoted}`).test(text))
  const throws = users.some(({ text }) => new RegExp(`(?:Error|badValue|super)\\(\\s*${quoted}`).test(text))
  const isWarning = warns || (!throws && section.includes(`#${code.toLowerCase()})`))
  return { kind: isWarning && throws ? BOTH : isWarning ? WARNED : THROWN, packages: users.map(({ name }) => name) }
}

/** The source of each package that reports codes, without comments and without the type that lists all codes. */
function sourcesOfPackages() {
  const names = readdirSync(join(root, 'packages')).filter((name) => name !== 'testkit')
  return names.map((name) => {
    const folder = `packages/${name}/src`
    const files = readdirSync(join(root, folder), { recursive: true }).filter((path) => path.endsWith('.ts'))
    const text = files.map((path) => textOf(join(folder, path))).join('\n')
    return { name, text: text.replace(/\/\*\*[\s\S]*?\*\/|^ +\| '.*$/gm, '') }
  })
}
