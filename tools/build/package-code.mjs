import { isAbsolute } from 'node:path'
import { rolldown } from 'rolldown'
import { breakLines } from './break-lines.mjs'

/**
 * Writes the code of the package in the working folder in one format, `esm` or `cjs`, into dist/<format>. Each of
 * `entries`, paths of output to paths of source, is one file; what several of them use is in chunks/. `bundled` are the
 * modules of other packages that become a part of it.
 */
export async function writeCode(format, entries, { bundled = [], plugins = [], ...output } = {}) {
  const bundle = await rolldown({
    input: entries,
    external: (module) =>
      !module.startsWith('.') && !isAbsolute(module) && !bundled.some((name) => module.startsWith(`${name}/`)),
    platform: 'node',
    transform: { target: 'es2022' },
    plugins: [...plugins, { name: 'awaited-requires', renderChunk: awaitRequires }],
    onLog: (_, { code, message }) => {
      // a command that an entry point exports, too
      if (code !== 'INEFFECTIVE_DYNAMIC_IMPORT') throw new Error(message)
    },
  })
  await bundle.write({
    dir: `dist/${format}`,
    format,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    comments: { legal: true, annotation: true, jsdoc: false },
    exports: 'named',
    // for importers that a compiler has turned into CommonJS
    esModule: true,
    generatedCode: { symbols: false },
    strict: true,
    // exports of other packages never change
    externalLiveBindings: false,
    // a Jest with its defaults has no `import()`
    dynamicImportInCjs: false,
    // `require` of an optional client stays as it is written
    polyfillRequire: false,
    minify: { mangle: { keepNames: { class: true, function: true } } },
    sourcemap: true,
    sourcemapExcludeSources: true,
    ...output,
  })
  await bundle.close()
  breakLines(`dist/${format}`)
}

const DEFERRED =
  /await Promise\.resolve\(\)\.then\(\(\) => (?:\/\* @__PURE__ \*\/ )?(__toESM\(require\("[^"]+"\), 1\))\)/g

/** Moves each awaited `require` out of its function: bundlers accept a missing package only directly in `try`. */
function awaitRequires(code) {
  // the map of the chunk stays as it is: a column may differ, the line does not
  return { code: code.replace(DEFERRED, 'await $1'), map: null }
}
