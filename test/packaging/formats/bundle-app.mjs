// Bundles an app that uses our packages, as its users do: node bundle-app.mjs <bundler> <format> <entry> <output>. The
// format is `esm` or `cjs`. Frameworks for node:http stay outside of the bundle; Hono and our packages become a part of it.
import { execFileSync } from 'node:child_process'
import { builtinModules } from 'node:module'
import { basename, dirname } from 'node:path'

const [bundler, format, entry, output, ...flags] = process.argv.slice(2)

// what an application installs beside our packages
const OUTSIDE = /^(@nestjs\/|express$|koa$|fastify$|reflect-metadata$|rxjs$|rxjs\/|fsevents$)/
const isOutside = (module) =>
  OUTSIDE.test(module) || module.startsWith('node:') || builtinModules.includes(module.split('/')[0])

const bundlers = {
  async esbuild() {
    const { build } = await import('esbuild')
    const [platform] = flags
    const external = ['@nestjs/*', 'express', 'koa', 'fastify', 'reflect-metadata', 'rxjs']
    await build({
      entryPoints: [entry],
      outfile: output,
      bundle: true,
      format,
      platform,
      target: 'node20',
      logLevel: 'error',
      external: platform === 'node' ? external : ['node:*'],
      ...(platform === 'neutral' && { mainFields: ['module', 'main'], conditions: ['node', 'import'] }),
    })
  },
  async rollup() {
    const { rollup } = await import('rollup')
    const { default: resolve } = await import('@rollup/plugin-node-resolve')
    const { default: commonjs } = await import('@rollup/plugin-commonjs')
    const plugins = [resolve({ preferBuiltins: true, exportConditions: ['node'] }), commonjs()]
    const bundle = await rollup({ input: entry, external: isOutside, plugins, onLog })
    await bundle.write({ file: output, format, inlineDynamicImports: true })
  },
  async rolldown() {
    const { rolldown } = await import('rolldown')
    const bundle = await rolldown({ input: entry, external: isOutside, platform: 'node', onLog })
    await bundle.write({ file: output, format, codeSplitting: false })
  },
  async vite() {
    const { build } = await import('vite')
    const rolldownOptions = { output: { format, entryFileNames: basename(output), codeSplitting: false } }
    await build({
      configFile: false,
      logLevel: 'error',
      root: dirname(entry),
      build: { ssr: entry, outDir: dirname(output), emptyOutDir: false, rolldownOptions },
      ssr: { noExternal: [/^@sluice\//, 'on-finished', 'ee-first'], external: ['express', 'koa'] },
    })
  },
  async webpack() {
    const { default: webpack } = await import('webpack')
    const isModule = format === 'esm'
    const externals = [
      ({ request }, done) =>
        isOutside(request) ? done(null, `${isModule ? 'module' : 'commonjs'} ${request}`) : done(),
    ]
    const compiler = webpack({
      mode: 'none',
      target: 'node20',
      entry,
      externals,
      // a module whose name depends on the kind of the application
      ignoreWarnings: [/the request of a dependency is an expression/],
      experiments: { outputModule: isModule },
      output: {
        path: dirname(output),
        filename: basename(output),
        module: isModule,
        chunkFormat: isModule ? 'module' : 'commonjs',
      },
    })
    const stats = await new Promise((resolve, reject) =>
      compiler.run((error, done) => (error ? reject(error) : resolve(done))),
    )
    if (stats.hasErrors() || stats.hasWarnings()) throw new Error(stats.toString({ colors: false }))
  },
  async bun() {
    const external = ['@nestjs/*', 'express', 'koa', 'fastify', 'reflect-metadata', 'rxjs']
    const args = ['build', entry, '--target=node', `--format=${format}`, `--outfile=${output}`]
    execFileSync(flags[0], [...args, ...external.flatMap((name) => ['--external', name])], { stdio: 'pipe' })
  },
}

/** A warning of a bundler about our packages fails the test. */
function onLog(level, { message }) {
  if (level === 'warn') throw new Error(message)
}

await bundlers[bundler]()
