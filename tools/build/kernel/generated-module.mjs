// Files of the algorithms, and parts of the modules that are written from them.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../root-command.mjs'

const FOLDER = join(root, 'packages/limiter-core/src/algorithms')
/** Policies that are made of other policies. */
const MADE_OF_OTHERS = ['compiled-variants.ts', 'wrapped-policy.ts']

/** Returns the names of the files with an algorithm, without `.ts`. */
export function algorithmFiles() {
  const files = readdirSync(FOLDER).filter(
    (name) =>
      !MADE_OF_OTHERS.includes(name) && /class \w+ extends UsagePolicy/.test(readFileSync(join(FOLDER, name), 'utf8')),
  )
  return files.sort().map((file) => file.replace('.ts', ''))
}

export function algorithmPath(name) {
  return join(FOLDER, `${name}.ts`)
}

/** Biome wants no quotes around a name that needs none. */
export function property(name) {
  return name.includes('-') ? `'${name}'` : name
}

export function literal(text) {
  return JSON.stringify(text)
}
