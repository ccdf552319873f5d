// Removes statements of PL/pgSQL that only name a value. A transaction prepares each expression when it evaluates it for
// the first time, which takes 0.6 µs: ten times as long as the evaluation.

const COPY = /^( *)(\w+) := ([a-z]\w*);$/
const ASSIGNMENT = /^( *)(\w+) := (.*);$/
/** Statements that evaluate an expression once. A condition of a loop is evaluated again after its variables have changed. */
const READER = /^ *(\w+(\[.*\])? :=|if|return|exit when|for) /

/**
 * Returns the text without statements that a name is the only reason for. `variables` and `outer`: types of the variables
 * of the text, and of those around it.
 */
export function fewerStatements(text, variables, outer) {
  const lines = withoutCopies(text.split('\n'), new Map([...variables, ...outer]))
  return withoutNames(lines, variables).join('\n')
}

/** A variable that is only computed to be copied gets the name of its copy. */
function withoutCopies(all, types) {
  let lines = all
  for (let at = 0; at < lines.length; at++) {
    const [, indent, target, source] = COPY.exec(lines[at]) ?? []
    if (source === undefined || !isMergeable(lines, at, indent, target, source, types)) continue
    lines = lines.filter((_, index) => index !== at).map((line) => renamed(line, source, target))
    at = -1
  }
  return lines
}

function isMergeable(lines, at, indent, target, source, types) {
  if (!types.has(source) || types.get(source) !== types.get(target)) return false
  const first = lines.findIndex((line) => wordOf(source).test(line))
  if (first === at || lines.slice(at + 1).some((line) => wordOf(source).test(line))) return false
  const between = lines.slice(first, at)
  // all statements from the first use to the copy are in the same block or in blocks inside of it
  const isOneBlock = between.every((line) => line.startsWith(indent)) && /^\S/.test(lines[first].slice(indent.length))
  const leaves = between.some((line) => /^(exit|return)\b/.test(line.slice(indent.length)))
  return isOneBlock && !leaves && !between.some((line) => wordOf(target).test(line))
}

/** A variable that the next statement alone reads is replaced by its value. */
function withoutNames(all, types) {
  let lines = all
  for (let at = lines.length - 2; at >= 0; at--) {
    const [, , name, value] = ASSIGNMENT.exec(lines[at]) ?? []
    const next = lines[at + 1]
    if (name === undefined || !types.has(name) || !READER.test(next)) continue
    if (countOf(lines.join('\n'), name) !== 2 || countOf(next.replace(/^ *\w+ :=/, ''), name) !== 1) continue
    // a quotient of integers would be an integer
    if (!/[a-z]/.test(value)) continue
    const inserted = /^[\w.]+$|^\w+\[[^\]]*\]$|^\([^()]*\)$/.test(value) ? value : `(${value})`
    lines = lines.toSpliced(
      at,
      2,
      renamed(next, name, () => inserted),
    )
  }
  return lines
}

function countOf(text, name) {
  return text.match(new RegExp(wordOf(name), 'g'))?.length ?? 0
}

function renamed(line, name, replacement) {
  return line.replaceAll(new RegExp(wordOf(name), 'g'), replacement)
}

function wordOf(name) {
  return new RegExp(`\\b${name}\\b`)
}
