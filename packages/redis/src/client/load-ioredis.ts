import { messageOf, SluiceError } from '@sluice/limiter-core/backend'

/**
 * Returns ioredis. It is loaded when a client is created, so that teams with another client need not install it. Throws
 * `SLUICE_BAD_OPTION` if it cannot be loaded.
 */
export function loadIoredis(): typeof import('ioredis') {
  // bundlers follow the first call, and accept within `try` that the package is not installed; the source of this package
  // is run as ES modules, without `require`
  try {
    return typeof require === 'function' ? require('ioredis') : requireFromHere('ioredis')
  } catch (error) {
    const [reason] = messageOf(error).split('\n')
    throw new SluiceError('SLUICE_BAD_OPTION', `ioredis cannot be loaded; npm install ioredis: ${reason}`)
  }
}

/** `require` of the working directory. webpack replaces a `createRequire` that is imported by `undefined`. */
function requireFromHere(name: string): typeof import('ioredis') {
  return process.getBuiltinModule('node:module').createRequire(`${process.cwd()}/`)(name)
}
