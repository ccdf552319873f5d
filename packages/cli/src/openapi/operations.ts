import type { YAMLMap } from 'yaml'
import type { YamlText } from './yaml-text.ts'

/** An operation of a description. Paths that refer to one path item share its operations. */
export interface Operation {
  readonly map: YAMLMap
  /** Methods and paths, such as `GET /users/{id}`. */
  readonly names: string[]
  readonly places: Place[]
}

interface Place {
  readonly method: string
  readonly path: string
  /** Paths of the servers, then an empty one. */
  readonly bases: readonly string[]
}

/** A path item that is in another file, or nowhere. */
interface MissingItem {
  readonly path: string
  readonly reference: string
  readonly node: unknown
}

const METHODS: readonly string[] = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query']

/** The operations of a description. */
export interface Operations {
  readonly operations: readonly Operation[]
  readonly missing: readonly MissingItem[]
}

/** Returns the operations of all paths. Does not include webhooks and callbacks, which other servers answer. */
export function operationsOf(source: YamlText): Operations {
  const byMap = new Map<YAMLMap, Operation>()
  const missing: MissingItem[] = []
  const paths = source.field(source.root, 'paths')
  const items = paths ? [...source.pairsOf(paths)].filter(([path]) => path.startsWith('/')) : []
  for (const [path, { value: node }] of items) {
    const item = source.followed(node)
    const isElsewhere = typeof item === 'string'
    if (isElsewhere) missing.push({ path, reference: item, node })
    // fields beside the reference are part of the path item
    const maps = new Set([source.mapOf(node), isElsewhere ? undefined : item])
    for (const map of maps) addOperations(source, byMap, path, map)
  }
  return { operations: [...byMap.values()], missing }
}

function addOperations(source: YamlText, byMap: Map<YAMLMap, Operation>, path: string, item?: YAMLMap): void {
  for (const name of item ? METHODS : []) {
    const map = source.field(item, name)
    if (!map) continue
    const method = name.toUpperCase()
    const operation = byMap.get(map) ?? { map, names: [], places: [] }
    byMap.set(map, operation)
    operation.names.push(`${method} ${path}`)
    operation.places.push({ method, path, bases: basesOf(source, [map, item, source.root]) })
  }
}

/** Returns the paths of the servers of the first map that names servers. */
function basesOf(source: YamlText, maps: readonly (YAMLMap | undefined)[]): readonly string[] {
  const servers = maps.map((map) => source.valueOf(source.pairOf(map, 'servers')?.value)).find(Array.isArray) ?? []
  return [...new Set([...servers.map(basePath), ''])]
}

function basePath(server: unknown): string {
  const { url, variables } = (server ?? {}) as { url?: unknown; variables?: Record<string, { default?: unknown }> }
  if (typeof url !== 'string') return ''
  const filled = url.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => String(variables?.[name]?.default ?? name))
  const path = filled.replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '')
  return path.startsWith('/') ? path.replace(/\/+$/, '') : ''
}
