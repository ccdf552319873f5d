// Builds @sluice/keyed-hash for runtimes without `node:crypto`, with the hash functions of @noble, so that its users do
// not install them. Runs in the folder of the package, after build-package.mjs.
import { join } from 'node:path'
import { writeCode } from './package-code.mjs'

const webCrypto = {
  name: 'web-crypto',
  resolveId: (module) => (/\/node-crypto\.ts$/.test(module) ? join(process.cwd(), 'src/crypto/web-crypto.ts') : null),
}

for (const format of ['esm', 'cjs']) {
  await writeCode(
    format,
    { web: './src/index.ts' },
    {
      bundled: ['@noble/ciphers', '@noble/hashes'],
      plugins: [webCrypto],
      minify: true,
      banner: '/*! noble-hashes - MIT License (c) 2022 Paul Miller (paulmillr.com) */',
    },
  )
}
