// Checks the English of comments, documentation and test titles against the writing rules in CONTRIBUTING.md.
// `npm run lint` runs it over the whole repository; pass paths to check only these. A sentence that is right although
// a rule matches is accepted by a line in tools/prose-accepted.txt.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const ROOTS = ['packages', 'docs', 'examples', 'test', 'bench/src', 'tools']
const PAGES = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md']
const SKIPPED = new Set(['node_modules', 'dist', 'generated.ts', '.artifacts', 'check-prose.mjs'])

/** A doc comment names its subject first; these words only point at one. */
const DANGLING = /^(Of|Those|None|It|That|So|Who|Whom|Whose|Told|Until|Where|Such|Which|Behind|Beside|Else) /

/** What to avoid, and what to write instead. */
const RULES = [
  [/\b(whoever|nobody|somebody|anybody|whomever)\b/i, 'name the actor: the client, the caller, the process'],
  [
    /\bof late\b(?! \w+s\b)|\banew\b|\bfor ever\b|\bfor good\b|\bhereof\b|\btherein\b|\bas ever\b/i,
    'use recently, again, forever',
  ],
  [/(?<!\bthere )\b(is|are|was) none\b(?! of)/i, 'say what is missing or invalid'],
  [/(?<!\b[Tt]here )\bis no (?!longer|more|need|way|timeout)[a-z]+/, 'write "is not a"'],
  [/\b(is|are|was|were) told\b|\b(tells|hears)\b/i, 'use report, receive, notify, return'],
  [/\bbut for\b|\bother than by\b|\bnot any more\b/i, 'use except, no longer'],
  [/\bby itself\b/i, 'use automatically, alone'],
  [/, as (does|do) /i, 'repeat the verb'],
]

const accepted = readFileSync(join(root, 'tools/prose-accepted.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
const used = new Set()

function* filesBelow(path) {
  if (SKIPPED.has(path.split('/').at(-1))) return
  if (!statSync(path).isDirectory()) yield path
  else for (const name of readdirSync(path)) yield* filesBelow(join(path, name))
}

/** The comments of a source file, or the sentences of a page, each with its line. */
function* unitsOf(path, text) {
  const lineOf = (index) => text.slice(0, index).split('\n').length
  if (path.endsWith('.md')) {
    const prose = text.replace(/```[\s\S]*?```|`[^`\n]*`|\]\([^)\n]*\)/g, (code) => code.replace(/[^\n]/g, ' '))
    for (const match of prose.matchAll(/[^\n]+/g))
      yield { text: match[0].trim(), line: lineOf(match.index), isDoc: false }
    return
  }
  const comments = /\/\*\*([\s\S]*?)\*\/|(?<=^|\n)[ \t]*((?:(?:\/\/|--)[^\n]*\n?[ \t]*)+)/g
  for (const match of text.matchAll(comments)) {
    const [, doc, lines] = match
    const body = (doc ?? lines).replace(/^\s*(\*|\/\/|--) ?/gm, '').replace(/`[^`]*`/g, '`…`')
    yield { text: body.replace(/\s+/g, ' ').trim(), line: lineOf(match.index), isDoc: doc !== undefined }
  }
  for (const match of text.matchAll(
    /\b(?:test|describe|it)(?:\.each\([^\n]*\))?\(\s*(['`])((?:(?!\1)[^\\]|\\.)+)\1/g,
  )) {
    yield { text: match[2], line: lineOf(match.index), isDoc: false }
  }
}

function isAccepted(text) {
  const line = accepted.find((part) => text.includes(part))
  if (line !== undefined) used.add(line)
  return line !== undefined
}

function problemsOf(path) {
  const problems = []
  for (const { text, line, isDoc } of unitsOf(path, readFileSync(path, 'utf8'))) {
    const found = RULES.flatMap(([pattern, advice]) =>
      (text.match(pattern) ?? []).slice(0, 1).map((match) => `"${match}": ${advice}`),
    )
    if (isDoc && DANGLING.test(text)) found.unshift(`"${text.split(' ')[0]}": start with the thing`)
    if (found.length === 0 || isAccepted(text)) continue
    problems.push(`${relative(root, path)}:${line}: ${found.join('; ')}\n    ${text.slice(0, 160)}`)
  }
  return problems
}

const paths = process.argv.length > 2 ? process.argv.slice(2) : [...ROOTS, ...PAGES].map((path) => join(root, path))
const files = paths.flatMap((path) => [...filesBelow(path)]).filter((path) => /\.(ts|mts|lua|md|mjs)$/.test(path))
const problems = files.flatMap(problemsOf)
const unused = process.argv.length > 2 ? [] : accepted.filter((line) => !used.has(line))
for (const problem of problems) console.log(problem)
for (const line of unused) console.log(`tools/prose-accepted.txt: no sentence contains "${line}"`)
console.log(`${files.length} files, ${problems.length} sentences to rewrite`)
process.exitCode = problems.length + unused.length === 0 ? 0 : 1
