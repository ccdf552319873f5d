// Builds @sluice/limiter-core/keyed-hash for runtimes without `node:crypto`, with the hash functions of @noble, so that its users do
// not install them. Runs in the folder of the package, after build-package.mjs.
import { join } from 'node:path'
import { writeCode } from './package-code.mjs'

const webCrypto = {
  name: 'web-crypto',
  resolveId: (module) =>
    /\/node-crypto\.ts$/.test(module) ? join(process.cwd(), 'src/keyed-hash/crypto/web-crypto.ts') : null,
}

for (const format of ['esm', 'cjs']) {
  await writeCode(
    format,
    { 'keyed-hash/web': './src/keyed-hash/index.ts' },
    {
      bundled: ['@noble/ciphers', '@noble/hashes'],
      plugins: [webCrypto],
      minify: true,
      banner: '/*! noble-hashes - MIT License (c) 2022 Paul Miller (paulmillr.com) */',
    },
  )
}
