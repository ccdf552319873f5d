import ts from 'typescript'
import { sections } from '../navigation.mjs'
import { textOf } from '../repository.mjs'
import { exported, fileOf } from './exported.mjs'
import { Since } from './since.mjs'
import { prose, Types } from './types.mjs'

const OPTIONS = /(?:Options|Input|Policy)\b/

/**
 * The pages of the reference, by path: one per package, from the types and comments of its source. `since`: the versions
 * in which options appeared, which also collects the options of the pages.
 */
export function referencePages(since = new Since()) {
  const { entries, checker } = exported()
  const places = new Map()
  for (const entry of entries) {
    entry.own = entry.symbols.filter((symbol) => fileOf(symbol).startsWith(`packages/${entry.folder}/`))
    for (const { name } of entry.own) {
      if (!places.has(name)) places.set(name, { folder: entry.folder, section: anchorOf(name) })
    }
  }
  const guides = guideTexts()
  const declared = new Set()
  const pages = new Map()
  for (const folder of new Set(entries.map((entry) => entry.folder))) {
    const page = new ReferencePage({ folder, checker, places, guides, since, declared })
    pages.set(`reference/${folder}.md`, page.text(entries.filter((entry) => entry.folder === folder)))
  }
  return pages.set('reference.md', overview(entries, since))
}

class ReferencePage {
  constructor({ folder, checker, places, guides, since, declared }) {
    this.folder = folder
    this.places = places
    this.guides = guides
    this.since = since
    this.declared = declared
    this.types = new Types(checker, {
      linkOf: (name) => this.linkOf(name),
      placeOf: (section, member) => this.placeOf(section, member),
    })
    this.written = new Set()
    this.anchors = new Set()
  }

  text(entries) {
    const parts = [`---\npageClass: reference\n---\n\n# @sluice/${this.folder}: reference`]
    const guide = `[Guide of the package](../packages/${this.folder}.html)`
    parts.push(`From the types and comments of the source. ${guide}. ${this.since.meaning}`)
    for (const entry of entries) {
      parts.push(`## \`${entry.name}\``)
      const own = entry.own.filter((symbol) => !this.written.has(symbol.name))
      for (const symbol of own) this.written.add(symbol.name)
      const isFunction = (symbol) => this.signatures(symbol).length > 0
      parts.push(...own.filter(isFunction).map((symbol) => this.functionText(symbol)))
      parts.push(...own.filter((symbol) => !isFunction(symbol)).map((symbol) => this.otherText(symbol)))
      parts.push(this.foreign(entry))
    }
    return `${parts.filter((part) => part !== '').join('\n\n')}\n`
  }

  signatures(symbol) {
    return symbol.flags & (ts.SymbolFlags.Function | ts.SymbolFlags.Variable)
      ? this.types.typeOf(symbol).getCallSignatures()
      : []
  }

  functionText(symbol) {
    const { name } = symbol
    const signatures = this.signatures(symbol)
    const parts = [`### \`${name}()\` {#${anchorOf(name)}}`, prose(this.types.comment(symbol))]
    parts.push(code(signatures.map((signature) => this.types.signature(name, signature)).join('\n\n')))
    const guide = this.guides(name, this.folder)
    if (guide !== undefined) parts.push(`Examples: [${guide.title}](../${guide.page.replace(/\.md$/, '.html')}).`)
    const parameters = new Map(signatures.flatMap((signature) => signature.parameters.map((one) => [one.name, one])))
    for (const parameter of parameters.values()) {
      const type = this.types.typeOf(parameter)
      const kind = this.types.text(type)
      // a decorator takes the options of the function that it is named after
      const isOptions = (OPTIONS.test(kind) && !kind.includes('=>')) || parameter.name === 'options'
      const table = isOptions ? this.types.table(type, name) : ''
      if (table !== '') parts.push(`\`${parameter.name}\`:`, table)
    }
    return parts.join('\n\n')
  }

  otherText(symbol) {
    const { name, flags } = symbol
    const heading = `### \`${name}\` {#${anchorOf(name)}}`
    const isType = flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class | ts.SymbolFlags.TypeAlias)
    const type = isType ? this.types.checker.getDeclaredTypeOfSymbol(symbol) : this.types.typeOf(symbol)
    const parts = [heading, prose(this.types.comment(symbol))]
    const declared = symbol.declarations.find(ts.isTypeAliasDeclaration)
    if (declared) parts.push(code(declared.getText().replace(/^export /, '')))
    else if (!isType) parts.push(code(`const ${name}: ${this.types.text(type)}`))
    if (!declared || OPTIONS.test(name)) parts.push(this.types.table(type, name))
    return parts.filter((part) => part !== '').join('\n\n')
  }

  /** The names of other packages that an entry exports again. */
  foreign({ symbols, own }) {
    const names = symbols.filter((symbol) => !own.includes(symbol)).map(({ name }) => name)
    if (names.length === 0) return ''
    const links = [...new Set(names)].map((name) => {
      const link = this.linkOf(name)
      return link === undefined ? `\`${name}\`` : `[\`${name}\`](${link})`
    })
    return `**Also exported:** ${links.join(', ')}.`
  }

  /** The version and the anchor of a member. Several packages show an option; the first page that does is searched. */
  placeOf(section, member) {
    const [{ pos }] = member.declarations
    const declaration = `${fileOf(member)}:${pos}`
    const isFirst = !this.declared.has(declaration)
    this.declared.add(declaration)
    const anchor = `${anchorOf(section)}-${member.name.toLowerCase().replace(/[^\w-]/g, '')}`
    const isNew = !this.anchors.has(anchor)
    this.anchors.add(anchor)
    return { since: this.since.of(this.folder, section, member.name), anchor: isNew ? anchor : undefined, isFirst }
  }

  linkOf(name) {
    const place = this.places.get(name)
    if (place === undefined) return undefined
    return `${place.folder === this.folder ? '' : `./${place.folder}.html`}#${place.section}`
  }
}

/**
 * Returns a function that finds the guide that shows a name of a package: the guide of its framework, otherwise the one
 * that shows it most often.
 */
function guideTexts() {
  const texts = sections()
    .filter(({ title }) => title !== 'Internals' && title !== 'Evaluate and migrate')
    .flatMap(({ pages }) => pages)
    .filter(({ page }) => !/^(?:errors|reliability|packages)/.test(page))
    .map((entry) => ({ ...entry, text: textOf(entry.path) }))
  return (name, folder) => {
    const ofFramework = texts.find(({ page, text }) => page === `frameworks/${folder}.md` && text.includes(`${name}(`))
    if (ofFramework !== undefined) return ofFramework
    const counts = texts.map((entry) => ({ ...entry, count: entry.text.split(`${name}(`).length - 1 }))
    const [best] = counts.sort((one, other) => other.count - one.count)
    return best.count > 0 ? best : undefined
  }
}

function overview(entries, since) {
  const lines = entries.map((entry) => {
    const names = entry.own.filter(({ flags }) => flags & (ts.SymbolFlags.Function | ts.SymbolFlags.Variable))
    const links = names.map(({ name }) => `[\`${name}\`](./reference/${entry.folder}.html#${anchorOf(name)})`)
    return `## [\`${entry.name}\`](./reference/${entry.folder}.html)\n\n${links.join(', ')}`
  })
  return `# Reference\n\nFunctions of each package, with their parameters and tables of options. The [guides](./guides.html) show them by task. ${since.meaning}\n\n${lines.join('\n\n')}\n`
}

/** Headings differ in case only, such as `rateLimit` and the decorator `RateLimit`. */
function anchorOf(name) {
  return /^[A-Z]/.test(name) ? `type-${name.toLowerCase()}` : name.toLowerCase()
}

function code(text) {
  return `\`\`\`ts\n${text}\n\`\`\``
}
