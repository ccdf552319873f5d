import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../packaging/command.ts'
import { root } from '../repository.ts'

const artifacts = join(root, '.artifacts')

/** The compiler settings under which the same controllers are compiled, and are to behave the same. */
export const settings = ['standard', 'legacy', 'metadata'] as const
export type Setting = (typeof settings)[number]

/** Controllers as tsc compiles them under one of the settings; loaded beside the packages' source. */
export class CompiledControllers implements Disposable {
  /** What tsc had to say of them. */
  readonly complaints: readonly string[]
  readonly #folder: string

  private constructor(folder: string, complaints: readonly string[]) {
    this.#folder = folder
    this.complaints = complaints
  }

  static async of(setting: Setting): Promise<CompiledControllers> {
    mkdirSync(artifacts, { recursive: true })
    const folder = mkdtempSync(join(artifacts, `decorators-${setting}-`))
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const tsconfig = join(import.meta.dirname, `tsconfig.${setting}.json`)
    const { output } = await run(process.execPath, [tsc, '-p', tsconfig, '--outDir', folder], root)
    writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }\n')
    if (setting === 'metadata') await import('reflect-metadata')
    // what it says of the packages is said once, where the whole repository is checked
    return new CompiledControllers(
      folder,
      output.split('\n').filter((line) => /^(test\/decorators|error)/.test(line)),
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
