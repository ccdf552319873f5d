import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compile } from '../compiler.ts'
import { root } from '../repository.ts'

const artifacts = join(root, '.artifacts')

/** Compiler settings under which the controllers are compiled and must behave the same. */
export const settings = ['standard', 'legacy', 'metadata'] as const
export type Setting = (typeof settings)[number]

/** Controllers compiled by tsc under one of the settings, loaded with the packages' source. */
export class CompiledControllers implements Disposable {
  /** Diagnostics that tsc reported for the controllers: none for a wrong type if types were not checked. */
  readonly complaints: readonly string[]
  readonly #folder: string

  private constructor(folder: string, complaints: readonly string[]) {
    this.#folder = folder
    this.complaints = complaints
  }

  /** Without `isChecked`, types are not checked: this takes a quarter of the time. */
  static async of(setting: Setting, { isChecked = false } = {}): Promise<CompiledControllers> {
    mkdirSync(artifacts, { recursive: true })
    const folder = mkdtempSync(join(artifacts, `decorators-${setting}-`))
    const tsconfig = join(import.meta.dirname, `tsconfig.${setting}.json`)
    const errors = await compile(tsconfig, ['--outDir', folder, ...(isChecked ? [] : ['--noCheck'])])
    writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }\n')
    if (setting === 'metadata') await import('reflect-metadata')
    // diagnostics of the packages are reported when the whole repository is type-checked
    return new CompiledControllers(
      folder,
      errors.split('\n').filter((line) => /^(test\/decorators|error)/.test(line)),
    )
  }

  /** The module of `controllers/` with this name. */
  load<T>(name: string): Promise<T> {
    return import(join(this.#folder, `${name}.js`))
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
