import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { typeModule } from './type-module.mjs'

/**
 * Bundles the declarations of a package, as the compiler wrote them into `folder`. What `entries`, paths of declaration
 * files, export is left. Declarations that several entries need are in the file `types.d.ts`, and all others in the file
 * of their entry, so that no entry imports an optional peer of another one. `optional`: names of packages that users may
 * not have. Without them, their types are `any`, and no compiler complains.
 */
export function bundleTypes(folder, entries, optional) {
  const bundle = new TypeBundle(join(folder, 'types.d.ts'), optional)
  const exported = entries.map((path) => ({ path, names: bundle.exportsOf(path) }))
  for (const { path, names } of exported) for (const target of names.values()) bundle.keep(target, path)
  bundle.nameAll()
  const texts = new Map(
    exported.map(({ path, names }) => [path, bundle.text(path) + bundle.exportText(path, names, path)]),
  )
  const shared = bundle.sharedText()
  for (const name of readdirSync(folder, { recursive: true })) {
    if (name.endsWith('.d.ts')) rmSync(join(folder, name))
  }
  if (shared !== '') writeFileSync(bundle.shared, shared)
  for (const [path, text] of texts) writeFileSync(path, text)
}

/** The declarations that exports need, with a name for each that is unique in the package. */
class TypeBundle {
  #optional
  #modules = new Map()
  /** Kept declarations by their keys, in the order in which they were found, with the entries that need them. */
  #kept = new Map()
  #foreign = new Map()
  #globals = new Set()
  #names = new Map()

  constructor(shared, optional) {
    /** Path of the file with the declarations that several entries need. */
    this.shared = shared
    this.#optional = optional
  }

  #module(path) {
    if (!this.#modules.has(path)) this.#modules.set(path, typeModule(path, readFileSync(path, 'utf8')))
    return this.#modules.get(path)
  }

  /** Returns what a module exports, by name. */
  exportsOf(path) {
    const { exports, stars } = this.#module(path)
    const found = new Map()
    for (const { from, typeOnly } of stars.filter((star) => !star.foreign)) {
      for (const [name, target] of this.exportsOf(from)) {
        if (name !== 'default') found.set(name, { ...target, typeOnly: typeOnly || target.typeOnly })
      }
    }
    for (const name of exports.keys()) found.set(name, this.#resolve(path, name))
    return found
  }

  /** Returns the declaration, or the export of another package, that a name of a module stands for. */
  #resolve(path, name) {
    const { exports } = this.#module(path)
    const one = exports.get(name)
    if (one === undefined) {
      const target = this.exportsOf(path).get(name)
      if (target === undefined) throw new Error(`${path}: no export ${name}`)
      return target
    }
    const target = one.from === undefined ? this.#local(path, one.local) : this.#imported(one)
    return { ...target, typeOnly: one.typeOnly || target.typeOnly }
  }

  #imported({ from, name, foreign }) {
    if (foreign) return { key: `${from} ${name}`, from, name }
    return name === '*' ? { key: `${from} *`, path: from, name, typeOnly: false } : this.#resolve(from, name)
  }

  #local(path, name) {
    const { declarations, imports } = this.#module(path)
    if (declarations.has(name)) return { key: `${path} ${name}`, path, name, typeOnly: declarations.get(name).typeOnly }
    return this.#imported(imports.get(name))
  }

  /** Keeps a declaration, and all that it refers to, for an entry. */
  keep(target, entry) {
    const { key, path, name, from } = target
    if (from !== undefined) return this.#foreign.set(key, target)
    if (!this.#keepFor(key, target, entry)) return
    for (const needed of this.#targets(path, name)) this.keep(needed, entry)
    const { effects } = this.#module(path)
    if (effects.length === 0 || !this.#keepFor(path, { path, effects }, entry)) return
    for (const { references } of effects)
      for (const needed of this.#targetsOf(path, references)) this.keep(needed, entry)
  }

  /** Returns false if something was kept for the entry before. */
  #keepFor(key, target, entry) {
    if (!this.#kept.has(key)) this.#kept.set(key, { ...target, key, entries: new Set() })
    const { entries } = this.#kept.get(key)
    if (entries.has(entry)) return false
    entries.add(entry)
    return true
  }

  /** Returns what a declaration of a module refers to. */
  #targets(path, name) {
    if (name === '*') return [...this.exportsOf(path).values()]
    return this.#targetsOf(path, this.#module(path).declarations.get(name).references)
  }

  #targetsOf(path, references) {
    const { declarations, imports } = this.#module(path)
    return references.flatMap(({ name }) => {
      if (declarations.has(name) || imports.has(name)) return [this.#local(path, name)]
      this.#globals.add(name)
      return []
    })
  }

  /** Gives each kept declaration and import its name. */
  nameAll() {
    for (const { key, name } of [...this.#kept.values(), ...this.#foreign.values()]) if (name) this.#give(key, name)
  }

  /** Returns the file in which something kept is declared. */
  #homeOf(key) {
    const { entries } = this.#kept.get(key)
    return entries.size === 1 ? [...entries][0] : this.shared
  }

  /** Returns the text of the declarations that several entries need, with their exports; empty if there are none. */
  sharedText() {
    const names = [...this.#kept.values()].filter(({ key, name }) => name && this.#homeOf(key) === this.shared)
    const own = names.map(({ key }) => this.#names.get(key)).join(', ')
    return own === '' ? '' : `${this.text(this.shared)}export { ${own} }\n`
  }

  /** Returns the text of the declarations of one file, and of what they import. */
  text(file) {
    const isEffect = ({ effects }) => effects !== undefined
    const all = [...this.#kept.values()].filter(({ key }) => this.#homeOf(key) === file)
    const kept = [...all.filter((one) => !isEffect(one)), ...all.filter(isEffect)]
    const needed = new Set()
    const texts = kept.map(({ key, path, name, effects }) => {
      const parts = effects ?? (name === '*' ? [] : this.#module(path).declarations.get(name).parts)
      const targets =
        name === '*' ? this.#targets(path, name) : parts.flatMap((part) => this.#targetsOf(path, part.references))
      for (const target of targets) needed.add(target.key)
      if (name !== '*') return parts.map((part) => this.#written(path, part)).join('\n')
      return `declare namespace ${this.#names.get(key)} { ${this.exportText(path, this.exportsOf(path))} }`
    })
    return `${this.#importText(file, needed)}${texts.join('\n')}\n`
  }

  #give(key, wanted) {
    const taken = new Set([...this.#names.values(), ...this.#globals])
    const base = wanted === 'default' || wanted === '*' ? 'imported' : wanted
    let name = base
    for (let number = 1; taken.has(name); number++) name = `${base}$${number}`
    this.#names.set(key, name)
  }

  /** Returns the imports of a file: of other packages, and of the shared declarations. */
  #importText(file, needed) {
    const named = new Map()
    let text = ''
    for (const { key, from, name } of [...this.#foreign.values(), ...this.#kept.values()]) {
      if (!needed.has(key) || (from === undefined && this.#homeOf(key) === file)) continue
      const own = this.#names.get(key)
      const source = from ?? this.#sharedFrom(file)
      const one = from === undefined || own === name ? own : `${name} as ${own}`
      if (from !== undefined && name === '*') text += this.#lineFrom(source, `import type * as ${own}`)
      // one line each, because the comment is for the next line only
      else if (this.#isOptional(source)) text += this.#lineFrom(source, `import { ${one} }`)
      else named.set(source, [...(named.get(source) ?? []), one])
    }
    for (const [from, names] of named) text += `import { ${names.join(', ')} } from '${from}'\n`
    return text
  }

  #isOptional(from) {
    return this.#optional.some((name) => from === name || from.startsWith(`${name}/`))
  }

  /** Returns the line of an import or export. The comment lets users compile without an optional package. */
  #lineFrom(from, start) {
    return `${this.#isOptional(from) ? '// @ts-ignore\n' : ''}${start} from '${from}'\n`
  }

  #sharedFrom(file) {
    return `./${relative(dirname(file), this.shared).replace(/\.d\.ts$/, '.js')}`
  }

  /** Returns the text of a statement with the names of this bundle. */
  #written(path, { text, references }) {
    const { declarations, imports } = this.#module(path)
    let written = text
    for (const { name, start, end } of references.toSorted((a, b) => b.start - a.start)) {
      if (!declarations.has(name) && !imports.has(name)) continue
      written = written.slice(0, start) + this.#names.get(this.#local(path, name).key) + written.slice(end)
    }
    return written
  }

  /** Returns the exports of an entry or, without `file`, those of a namespace. */
  exportText(path, names, file) {
    const groups = new Map()
    let foreign = ''
    for (const [name, { key, from, name: original, typeOnly }] of names) {
      const type = typeOnly ? 'type ' : ''
      if (from !== undefined) {
        foreign += this.#lineFrom(from, `export { ${type}${original} as ${name} }`)
        continue
      }
      const isHere = file === undefined || this.#homeOf(key) === file
      const group = isHere ? '' : ` from '${this.#sharedFrom(file)}'`
      const listed = `${type}${this.#names.get(key)} as ${name}`.replace(/\b([\w$]+) as \1$/, '$1')
      groups.set(group, [...(groups.get(group) ?? []), listed])
    }
    const own = [...groups].map(([from, listed]) => `export { ${listed.join(', ')} }${from}\n`)
    const stars = this.#starsOf(path).map((star) =>
      this.#lineFrom(star.from, `export ${star.typeOnly ? 'type ' : ''}*`),
    )
    // without an export, a file would not be a module
    const empty = own.length + stars.length === 0 && foreign === '' ? 'export {}\n' : ''
    return `${own.join('')}${foreign}${stars.join('')}${empty}`
  }

  #starsOf(path) {
    return this.#module(path).stars.flatMap((star) => (star.foreign ? [star] : this.#starsOf(star.from)))
  }
}
