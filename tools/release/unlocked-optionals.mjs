const platforms = { windows: 'win32' }
const systems = /\b(android|darwin|freebsd|linux|openharmony|win32|windows)\b/
// turbo names x64 just "64"
const processors = /\b(arm64|arm|ia32|loong64|ppc64|riscv64|s390x|x64|64)\b/
const libraries = { gnu: 'glibc', glibc: 'glibc', musl: 'musl' }

/**
 * Optional dependencies that packages in the lock require with an exact version and that have no entry in the lock, as
 * pairs of path and entry. Platform and architecture are derived from the name, so that npm installs each only on a
 * matching machine; the checksum is unknown, and npm adds it when the package is installed.
 */
export function unlockedOptionals(packages) {
  return Object.entries(packages).flatMap(([parent, { dev, optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !isLocked(packages, parent, name))
      .map(([name, version]) => [`node_modules/${name}`, entry(name, version, dev)]),
  )
}

/** Paths that Node would search: below the parent, then below each folder above. */
function isLocked(packages, parent, name) {
  for (let folder = parent; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (place in packages) return true
    if (folder === '') return false
  }
}

function entry(name, version, dev) {
  const system = name.match(systems)?.[1]
  const processor = name.match(processors)?.[1]
  const isExact = /^\d+\.\d+\.\d+/.test(version)
  if (!system || !processor || !isExact) throw new Error(`cannot tell what ${name}@${version} is for: lock it by hand`)
  const library = libraries[name.match(/-(gnu|glibc|musl)$/)?.[1]]
  return {
    version,
    cpu: [processor === '64' ? 'x64' : processor],
    ...(dev && { dev }),
    ...(library && { libc: [library] }),
    optional: true,
    os: [platforms[system] ?? system],
  }
}
