import { join } from 'node:path'
import { type BuildOptions, build, type Metafile } from 'esbuild'
import { root } from '../repository.ts'

export interface Bundle {
  readonly text: string
  readonly metafile: Metafile
}

/** Bundles a program of this folder, with the source of the packages, into one module. */
export async function bundle(entry: string, options: BuildOptions = {}): Promise<Bundle> {
  const { outputFiles = [], metafile } = await build({
    absWorkingDir: root,
    entryPoints: [join('test/runtimes', entry)],
    outfile: 'bundle.mjs',
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    conditions: ['@sluice/source', 'import', 'default'],
    mainFields: ['module', 'main'],
    external: ['node:*'],
    logLevel: 'error',
    ...options,
  })
  return { text: outputFiles[0].text, metafile: metafile as Metafile }
}
