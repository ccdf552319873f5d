import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, textOf } from '../repository.mjs'

const FILE = 'site/since.json'

/**
 * The version in which each option appeared. `site/since.json` lists the options that each release added, by package and
 * by function or type; `npm run docs -- --release` adds those of the version in package.json. An option that no release
 * lists belongs to the next one.
 */
export class Since {
  #version = JSON.parse(textOf('package.json')).version
  #releases
  #versions = new Map()
  #seen = new Map()

  /** `releases`: content of `site/since.json`. */
  constructor(releases = JSON.parse(textOf(FILE))) {
    this.#releases = releases
    for (const [version, packages] of Object.entries(releases)) {
      for (const [folder, sections] of Object.entries(packages)) {
        for (const [section, names] of Object.entries(sections)) {
          for (const name of names.split(' ')) this.#versions.set(idOf(folder, section, name), version)
        }
      }
    }
  }

  get #isReleased() {
    return this.#version in this.#releases
  }

  /** What the column "Since" shows. */
  get meaning() {
    const next = this.#isReleased ? '"next" is the next one' : `${this.#version} is not published yet`
    return `"Since" is the version that first had an option; ${next}.`
  }

  of(folder, section, name) {
    const id = idOf(folder, section, name)
    this.#seen.set(id, [folder, section, name])
    return this.#versions.get(id) ?? (this.#isReleased ? 'next' : this.#version)
  }

  /** Returns the releases with the version in package.json, to which belong the shown options that none has listed. */
  released() {
    const added = this.#isReleased ? structuredClone(this.#releases[this.#version]) : {}
    for (const [id, [folder, section, name]] of this.#seen) {
      if (this.#versions.has(id)) continue
      added[folder] ??= {}
      const names = added[folder][section]
      added[folder][section] = names === undefined ? name : `${names} ${name}`
    }
    return { ...this.#releases, [this.#version]: added }
  }

  write() {
    writeFileSync(join(root, FILE), `${JSON.stringify(this.released(), undefined, 2)}\n`)
  }
}

function idOf(...parts) {
  return parts.join(' ')
}
