import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { typeModule } from './type-module.mjs'

/**
 * Bundles the declarations of a package, as the compiler wrote them into `folder`. What `entries`, paths of declaration
 * files, export is left; several of them share one file, `types.d.ts`.
 */
export function bundleTypes(folder, entries) {
  const bundle = new TypeBundle()
  const exported = entries.map((path) => ({ path, names: bundle.exportsOf(path) }))
  for (const { names } of exported) for (const target of names.values()) bundle.keep(target)
  const home = entries.length === 1 ? entries[0] : join(folder, 'types.d.ts')
  const texts = new Map([[home, bundle.text(home)]])
  for (const { path, names } of exported) {
    const from = path === home ? undefined : `./${relative(dirname(path), home).replace(/\.d\.ts$/, '.js')}`
    texts.set(path, (texts.get(path) ?? '') + bundle.exportText(path, names, from))
  }
  for (const name of readdirSync(folder, { recursive: true })) {
    if (name.endsWith('.d.ts')) rmSync(join(folder, name))
  }
  for (const [path, text] of texts) writeFileSync(path, text)
}

/** The declarations that exports need, with a name for each that is unique in one file. */
class TypeBundle {
  #modules = new Map()
  /** Kept declarations and imports, by their keys, in the order in which they were found. */
  #kept = new Map()
  #foreign = new Map()
  #globals = new Set()
  #names = new Map()

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

  /** Keeps a declaration and all that it refers to. */
  keep(target) {
    const { key, path, name, from } = target
    if (from !== undefined) return this.#foreign.set(key, target)
    const module = this.#module(path)
    if (this.#kept.has(key)) return
    this.#kept.set(key, target)
    if (name === '*') {
      for (const one of this.exportsOf(path).values()) this.keep(one)
      return
    }
    this.#keepAll(path, module.declarations.get(name).references)
    if (module.isKept) return
    module.isKept = true
    for (const { references } of module.effects) this.#keepAll(path, references)
  }

  #keepAll(path, references) {
    const { declarations, imports } = this.#module(path)
    for (const { name } of references) {
      if (declarations.has(name) || imports.has(name)) this.keep(this.#local(path, name))
      else this.#globals.add(name)
    }
  }

  /** Returns the text of all kept declarations, of which `home` is the file. */
  text(home) {
    for (const { key, name } of [...this.#kept.values(), ...this.#foreign.values()]) this.#give(key, name)
    const kept = [...this.#kept.values()].flatMap(({ key, path, name }) =>
      name === '*'
        ? `declare namespace ${this.#names.get(key)} { ${this.exportText(path, this.exportsOf(path))} }`
        : this.#module(path)
            .declarations.get(name)
            .parts.map((part) => this.#written(path, part)),
    )
    const effects = [...this.#modules].flatMap(([path, { effects, isKept }]) =>
      isKept ? effects.map((part) => this.#written(path, part)) : [],
    )
    const names = [...this.#kept.values()].map(({ key }) => this.#names.get(key))
    const own = home.endsWith('types.d.ts') ? `export { ${names.join(', ')} }\n` : ''
    return `${this.#importText()}${[...kept, ...effects].join('\n')}\n${own}`
  }

  #give(key, wanted) {
    const taken = new Set([...this.#names.values(), ...this.#globals])
    const base = wanted === 'default' || wanted === '*' ? 'imported' : wanted
    let name = base
    for (let number = 1; taken.has(name); number++) name = `${base}$${number}`
    this.#names.set(key, name)
  }

  #importText() {
    const named = new Map()
    let text = ''
    for (const { key, from, name } of this.#foreign.values()) {
      const own = this.#names.get(key)
      if (name === '*') text += `import type * as ${own} from '${from}'\n`
      else named.set(from, [...(named.get(from) ?? []), own === name ? name : `${name} as ${own}`])
    }
    for (const [from, names] of named) text += `import { ${names.join(', ')} } from '${from}'\n`
    return text
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

  /** Returns the exports of an entry; `from` is the file of the declarations, if it is another one. */
  exportText(path, names, from) {
    const listed = [...names]
      .map(([name, { key, typeOnly }]) => `${typeOnly ? 'type ' : ''}${this.#names.get(key)} as ${name}`)
      .map((text) => text.replace(/\b([\w$]+) as \1$/, '$1'))
    const own = [...names].flatMap(([, target], index) => (target.from === undefined ? [listed[index]] : []))
    const foreign = [...names].flatMap(([name, target]) =>
      target.from === undefined
        ? []
        : `export { ${target.typeOnly ? 'type ' : ''}${target.name} as ${name} } from '${target.from}'\n`,
    )
    const stars = this.#starsOf(path).map((star) => `export ${star.typeOnly ? 'type ' : ''}* from '${star.from}'\n`)
    return `export { ${own.join(', ')} }${from === undefined ? '' : ` from '${from}'`}\n${foreign.join('')}${stars.join('')}`
  }

  #starsOf(path) {
    return this.#module(path).stars.flatMap((star) => (star.foreign ? [star] : this.#starsOf(star.from)))
  }
}
