import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../repository.ts'

const ROOTS = /^(packages|test|docs|tools|\.changeset)\/|^[A-Z]+\.md$|^package\.json$/

/**
 * Returns the paths to create or edit by a list of ARCHITECTURE.md, sorted, from the root of the repository.
 * `names` are the values of `<name>` and others. Text in parentheses that starts with "example" names no such path.
 */
export function listedPaths(heading: string, names: Readonly<Record<string, string>>): string[] {
  const [, section = ''] = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').split(`\n## ${heading}\n`)
  const steps = section.split('\n## ')[0].match(/^ *(\d+\.|-) .*$/gm) ?? []
  const texts = steps.flatMap((step) => step.replace(/\(example[^)]*\)/g, '').match(/(?<=`)[^`\s]+(?=`)/g) ?? [])
  const paths = texts.filter((text) => /^[\w@<>./-]*\.\w+$|\/LICENSE$/.test(text) && !/^\.(?!changeset\/)/.test(text))
  const named = paths.map((path) => path.replace(/<(\w+)>/g, (_, key) => names[key] ?? `<${key}>`))
  return [...new Set(named.map((path) => (ROOTS.test(path) ? path : `packages/${path}`)))].sort()
}
