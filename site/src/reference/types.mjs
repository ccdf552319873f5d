import ts from 'typescript'

const FLAGS = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope
const DEFAULT = /\bDefault: ([\s\S]+?)\.(?:\s|$)/
const LONGEST = 80

/** Resolves types of exported symbols, and describes them in Markdown. */
export class Types {
  /**
   * `linkOf`: address of the section about a name. `placeOf`: `since`, `anchor` and `isFirst` of a member in a section, for
   * its row.
   */
  constructor(checker, { linkOf, placeOf }) {
    this.checker = checker
    this.linkOf = linkOf
    this.placeOf = placeOf
  }

  text(type) {
    return this.checker.typeToString(type, undefined, FLAGS)
  }

  typeOf(symbol) {
    return this.checker.getTypeOfSymbolAtLocation(symbol, symbol.declarations?.[0] ?? symbol.valueDeclaration)
  }

  comment(symbol) {
    return ts.displayPartsToString(symbol.getDocumentationComment(this.checker)).trim()
  }

  signature(name, signature) {
    const parameters = signature.parameters.map((symbol) => {
      const type = this.typeOf(symbol)
      const { declarations: [declared] = [] } = symbol
      const rest = declared?.dotDotDotToken === undefined ? '' : '...'
      const isOptional = declared !== undefined && this.checker.isOptionalParameter(declared)
      return `${rest}${symbol.name}${isOptional ? '?' : ''}: ${this.text(isOptional ? this.checker.getNonNullableType(type) : type)}`
    })
    const list = parameters.join(', ')
    const lines = list.length > LONGEST ? `\n  ${parameters.join(',\n  ')},\n` : list
    return `${name}(${lines}): ${this.text(signature.getReturnType())}`
  }

  /** The members of an object, or of all members of a union. Undefined if others than packages of Sluice declare it. */
  members(type) {
    const parts = this.checker.getNonNullableType(type)
    const all = new Map()
    for (const part of parts.isUnion() ? parts.types : [parts]) {
      if (!(part.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return []
      for (const member of this.checker.getPropertiesOfType(part)) {
        if (!isOwn(member)) continue
        const type = this.checker.getTypeOfSymbol(member)
        // `key?: undefined` only excludes a member from a part of a union
        const isExcluded = this.text(type) === 'undefined'
        const known = all.get(member.name)
        if (known === undefined || known.isExcluded) all.set(member.name, { member, type, isExcluded })
      }
    }
    return [...all.values()].filter(({ isExcluded }) => !isExcluded)
  }

  /** A table of members: name, meaning, default, type, unit and since. Empty if there are none. */
  table(type, section) {
    const rows = this.members(type).map(({ member, type }) => {
      const meaning = this.comment(member)
        .replace(/\s*\n\s*(?!-)/g, ' ')
        .replaceAll('\n', '<br>')
      const [, fallback] = DEFAULT.exec(meaning) ?? []
      const kind = this.text(type).replace(/^undefined \| | \| undefined$/g, '')
      const required = member.flags & ts.SymbolFlags.Optional || fallback ? (fallback ?? '') : 'required'
      const { since, ...place } = this.placeOf(section, member)
      const cells = [meaning.replace(DEFAULT, ''), required, this.kind(kind), unitOf(member.name, kind), since]
      return `| ${nameCell(member.name, place)} ${row(cells)}`
    })
    if (rows.length === 0) return ''
    return `${row(['Name', 'Meaning', 'Default', 'Type', 'Unit', 'Since'])}\n${'| --- '.repeat(6)}|\n${rows.join('\n')}\n`
  }

  /** The type as code, with a link if it is a documented name. */
  kind(text) {
    const short = text.length > LONGEST ? `${text.slice(0, LONGEST - 3)}…` : text
    const link = this.linkOf(/^(?:readonly )?(\w+)(?:<.*>)?(?:\[\])?$/.exec(text)?.[1])
    return link === undefined ? `\`${short}\`` : `[\`${short}\`](${link})`
  }
}

/** Text of a comment as Markdown: signs that Vue or HTML would read are escaped outside of code. */
export function prose(text) {
  return text.replace(/`[^`]*`|[<>{}]/g, (part) => {
    return part.length > 1 ? part : `&#${part.codePointAt(0)};`
  })
}

function row(cells) {
  return `| ${cells.map((cell) => prose(cell).replaceAll('&#60;br&#62;', '<br>').replaceAll('|', '\\|').trim()).join(' | ')} |`
}

/** A name with the anchor of its row. The search lists the first row of each declared option. */
function nameCell(name, { anchor, isFirst }) {
  if (anchor === undefined) return `\`${name}\``
  return `<code id="${anchor}"${isFirst ? ' class="first"' : ''}>${prose(name)}</code>`
}

function isOwn(member) {
  if (member.name.startsWith('__')) return false
  return (member.declarations ?? []).some((declared) =>
    /\/packages\/[^/]+\/src\//.test(declared.getSourceFile().fileName),
  )
}

function unitOf(name, kind) {
  if (/Ms$/.test(name) && kind === 'number') return 'ms'
  if (/Duration/.test(kind)) return "ms, or a text such as `'1m'`"
  if (/At$/.test(name) && kind === 'number') return 'ms since the start of the clock'
  return /[Bb]ytes$/.test(name) ? 'bytes' : ''
}
