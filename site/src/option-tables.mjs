import { Comment, Converter, DocumentReflection, ReflectionKind } from 'typedoc'

const TABLES = /(?:Options|Input|Policy)$|^(?:Decision|PolicyVerdict|Permit|Moment|RequestSluice)$/
const DEFAULT = /\bDefault: ([\s\S]+?)\.(?:\s|$)/

/** Adds a page with the members of all options and decisions: name, type, default and unit, from the source. */
export function optionTables(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    const types = project
      .getReflectionsByKind(ReflectionKind.Interface)
      .filter(({ name }) => TABLES.test(name))
      .sort((one, other) => one.name.localeCompare(other.name))
    const parts = [
      text('# Options and decisions\n\nEvery option and every field of a decision, as the source declares them.\n'),
    ]
    for (const type of unique(types)) parts.push(...tableOf(type))
    const page = new DocumentReflection('Options and decisions', project, parts, { group: 'Guides' })
    project.registerReflection(page, undefined, undefined)
    project.addChild(page)
  })
}

/** Packages export types of others again: the first of each name and members is enough. */
function unique(types) {
  const byShape = new Map()
  for (const type of types) {
    const shape = `${type.name} ${membersOf(type).map(({ name }) => name)}`
    if (!byShape.has(shape)) byShape.set(shape, type)
  }
  return byShape.values()
}

function tableOf(type) {
  const members = membersOf(type)
  if (members.length === 0) return []
  const rows = members.map((member) => {
    const meaning = Comment.combineDisplayParts(commentOf(member)?.summary).replaceAll('\n', ' ')
    const [, fallback] = DEFAULT.exec(meaning) ?? []
    const kind = typeOf(member)
    const required = member.flags.isOptional || fallback ? (fallback ?? '') : 'required'
    const cells = [`\`${member.name}\``, code(kind), required, unitOf(member.name, kind), meaning.replace(DEFAULT, '')]
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').trim()).join(' | ')} |`
  })
  return [
    text('\n## '),
    { kind: 'inline-tag', tag: '@link', text: type.name, target: type },
    text(`\n\n| Name | Type | Default | Unit | Meaning |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}\n`),
  ]
}

function membersOf(type) {
  return (type.children ?? []).filter(({ name }) => !name.startsWith('['))
}

function commentOf(member) {
  return member.comment ?? member.signatures?.[0]?.comment ?? member.getSignature?.comment
}

function typeOf(member) {
  if (member.signatures) return 'method'
  const type = (member.type ?? member.getSignature?.type)?.toString() ?? ''
  return type.replace(/^undefined \| | \| undefined$/g, '')
}

function code(kind) {
  return kind === '' ? '' : `\`${kind.length > 80 ? `${kind.slice(0, 77)}…` : kind}\``
}

function unitOf(name, kind) {
  if (/Ms$/.test(name) && kind === 'number') return 'ms'
  if (/Duration/.test(kind)) return "ms, or a text such as `'1m'`"
  if (/At$/.test(name) && kind === 'number') return 'ms since the start of the clock'
  return /[Bb]ytes$/.test(name) ? 'bytes' : ''
}

function text(content) {
  return { kind: 'text', text: content }
}
