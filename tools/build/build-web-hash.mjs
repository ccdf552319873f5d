// Bundles the built @sluice/keyed-hash for runtimes without `node:crypto` into dist/web, with the hash functions of
// @noble, so that its users do not install them. Runs in the folder of the package.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

const webCrypto = 'dist/cjs/crypto/web-crypto.js'

await build({
  entryPoints: ['dist/cjs/index.js'],
  outfile: 'dist/web/index.js',
  bundle: true,
  format: 'cjs',
  platform: 'neutral',
  target: 'es2022',
  minify: true,
  legalComments: 'inline',
  banner: { js: '/*! noble-hashes - MIT License (c) 2022 Paul Miller (paulmillr.com) */' },
  logLevel: 'error',
  plugins: [
    {
      name: 'web-crypto',
      setup: ({ onResolve }) =>
        onResolve({ filter: /node-crypto\.js$/ }, () => ({ path: join(process.cwd(), webCrypto) })),
    },
  ],
})
writeFileSync('dist/web/package.json', '{ "type": "commonjs" }\n')
// Node.js never loads it
rmSync(webCrypto)
